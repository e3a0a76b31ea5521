fn main() {
    let mut args = std::env::args().skip(1);
    let file = args.next().expect("file");
    let options = weir_x86::Options { threads: args.collect(), ..Default::default() };
    let bytes = std::fs::read(&file).expect("readable");
    let files = |path: &str| weir_x86::SourceFile { name: path.rsplit('/').next().unwrap_or(path).to_owned(), text: std::fs::read_to_string(path).ok() };
    match weir_x86::read(&file, &bytes, &options, &files, &weir_ir::Uninterrupted) {
        Ok(program) => println!("{}\n{}", program.source.text(), weir_testkit::dump(&program)),
        Err(error) => println!("{error:#?}"),
    }
}
