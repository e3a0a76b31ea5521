//! Every entry of the table against the run: the step in the lane of its thread, what waits and what memory holds after
//! it; of a shortened table, the rows that are left.

use super::*;
use crate::testing::family;
use weir::run_text::step_texts;
use weir_witness::replay;

/// Wide enough for everything.
fn wide() -> LaneOptions {
    let width = 1_000;
    LaneOptions {
        max_steps: usize::MAX,
        lane_width: width,
        least_lane_width: 3,
        buffer_width: width,
        memory_width: width,
        line_width: 100 * width,
    }
}

/// The entries that should be there, by the definition: the header, one row for each step with its number, and the
/// places.
struct Expected {
    header: Vec<String>,
    rows: Vec<(usize, Vec<String>)>,
    places: Vec<String>,
}

fn expected(program: &Program, replay: &Replay, is_list: bool) -> Expected {
    let events = replay.events();
    let name = |thread: ThreadId| program.thread(thread).name.clone();
    let moves = |thread: &ThreadId| events.iter().any(|event| event.thread == *thread);
    let stores = |thread: &ThreadId| {
        let buffers = |event: &Event| matches!(event.effect, Effect::Store { buffered: true, .. });
        events.iter().any(|event| event.thread == *thread && buffers(event))
    };
    let movers: Vec<ThreadId> = program.thread_ids().filter(moves).collect();
    let buffering: Vec<ThreadId> = program.thread_ids().filter(stores).collect();
    let accessed: BTreeSet<Address> = events.iter().flat_map(|event| event.effect.addresses()).collect();
    let mut header: Vec<String> = if is_list {
        ["thread", "step"]
            .into_iter()
            .chain((!buffering.is_empty()).then_some("its buffer"))
            .map(String::from)
            .collect()
    } else {
        let buffers = buffering.iter().map(|&thread| format!("buffer {}", name(thread)));
        movers.iter().map(|&thread| name(thread)).chain(buffers).collect()
    };
    header.extend((!accessed.is_empty()).then(|| "memory".to_owned()));
    let texts = step_texts(program, replay);
    let mut rows = Vec::new();
    replay.for_each_state(program, |step, event, state| {
        let store = |address: Address, value: Value| format!("{}={value}", program.cell_name(address));
        let buffer = |thread: ThreadId| {
            let waiting = state.thread(thread).buffer.iter().map(|waiting| store(waiting.address, waiting.value));
            format!("[{}]", waiting.collect::<Vec<_>>().join(" "))
        };
        let text = texts[step.index()].to_string();
        let mut row: Vec<String> = if is_list {
            let own = (!buffering.is_empty()).then(|| buffer(event.thread));
            [name(event.thread), text].into_iter().chain(own).collect()
        } else {
            let lane = |&thread: &ThreadId| if thread == event.thread { text.clone() } else { String::new() };
            movers.iter().map(lane).chain(buffering.iter().map(|&thread| buffer(thread))).collect()
        };
        let memory = accessed.iter().map(|&address| store(address, state.cell(program, address)));
        row.extend((!accessed.is_empty()).then(|| memory.collect::<Vec<_>>().join(" ")));
        rows.push((step.number(), row));
    });
    let place =
        |&thread: &ThreadId| format!("({})", program.whereabouts(thread, replay.last().thread(thread).location));
    Expected { header, rows, places: movers.iter().map(place).collect() }
}

/// The entries of a line, cut where the columns begin.
fn entries(line: &str, starts: &[usize]) -> Vec<String> {
    let characters: Vec<char> = line.chars().collect();
    let part = |at: usize| {
        let from = starts[at].min(characters.len());
        let to = starts.get(at + 1).map_or(characters.len(), |&to| to.min(characters.len()));
        characters[from..to].iter().collect::<String>().trim_end().to_owned()
    };
    (0..starts.len()).map(part).collect()
}

/// Where the columns begin: each is as wide as its widest entry, and four characters apart from the next.
fn starts(expected: &Expected, is_list: bool) -> Vec<usize> {
    let mut starts = vec![8];
    for column in 0..expected.header.len() - 1 {
        let rows = expected.rows.iter().map(|(_, row)| row[column].chars().count());
        let place = |place: &String| place.chars().count();
        let places = match (is_list, column) {
            (true, 1) => expected.places.iter().map(place).max().unwrap_or(0),
            (false, _) => expected.places.get(column).map_or(0, place),
            _ => 0,
        };
        let width = rows.chain([expected.header[column].chars().count(), places]).max().unwrap_or(0);
        starts.push(starts[column] + width + 4);
    }
    starts
}

/// The steps one below the other, however wide that is.
fn listed(program: &Program, replay: &Replay) -> String {
    if replay.events().is_empty() {
        return lanes(program, replay, &wide());
    }
    let options = wide();
    let picture = Picture::new(program, replay, &options);
    let steps = Steps::List { step_width: options.lane_width };
    picture.table(&Layout { steps, buffers: Buffers::Own, memory: Some(0) }).text()
}

fn compare(program: &Program, replay: &Replay, is_list: bool) {
    let expected = expected(program, replay, is_list);
    let text = if is_list { listed(program, replay) } else { lanes(program, replay, &wide()) };
    let starts = starts(&expected, is_list);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(entries(lines[0], &starts), expected.header, "\n{text}");
    for ((number, row), line) in expected.rows.iter().zip(&lines[1..]) {
        assert_eq!(line[..8].trim(), number.to_string(), "\n{text}");
        assert_eq!(&entries(line, &starts), row, "\n{text}");
    }
    let rest = &lines[1 + expected.rows.len()..];
    if is_list {
        assert_eq!(rest.len(), expected.places.len(), "\n{text}");
        for (line, place) in rest.iter().zip(&expected.places) {
            assert_eq!(entries(line, &starts)[1], *place, "\n{text}");
        }
    } else {
        assert_eq!(entries(rest[0], &starts)[..expected.places.len()], expected.places, "\n{text}");
        assert_eq!(rest.len(), 1, "\n{text}");
    }
    shortened(program, replay, &text);
}

/// Of a run with too many steps the first ones and the last ones are there, as in the whole.
fn shortened(program: &Program, replay: &Replay, whole: &str) {
    let steps = replay.events().len();
    for max_steps in [2, 3, 4, 5].into_iter().filter(|max| steps > max + 1) {
        let text = lanes(program, replay, &LaneOptions { max_steps, ..wide() });
        // Columns may be narrower than in the whole, so that only the entries can be compared.
        let entries = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let first = max_steps.div_ceil(2);
        let numbers: Vec<usize> = (1..=first).chain(steps - (max_steps - first) + 1..=steps).collect();
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[1 + first].trim().starts_with(&format!("… {} step", steps - max_steps)), "\n{text}");
        let shown = lines[1..=first].iter().chain(&lines[2 + first..lines.len() - 1]);
        let shown: Vec<_> = shown.map(|line| entries(line)).collect();
        let whole: Vec<&str> = whole.lines().collect();
        if whole[0].trim().starts_with("thread") {
            return;
        }
        assert_eq!(shown, numbers.iter().map(|&number| entries(whole[number])).collect::<Vec<_>>(), "\n{text}");
    }
}

#[test]
fn every_step_is_in_its_lane_with_the_state_after_it() {
    let mut random = Random(21);
    for (number, program) in family::programs().into_iter().step_by(4).enumerate() {
        let run = random_run(&program, [Model::Sc, Model::Tso][number % 2], &mut random, 12);
        if run.steps.is_empty() {
            continue;
        }
        let replay = replay(&program, &run).expect("the run is possible");
        compare(&program, &replay, number.is_multiple_of(3));
    }
    for number in 0..100 {
        let program = random_program(&mut random);
        let run = random_run(&program, Model::Tso, &mut random, 15);
        compare(&program, &replay(&program, &run).expect("the run is possible"), number % 3 == 0);
    }
}

#[test]
fn lanes_are_as_wide_as_the_line_allows() {
    let mut program = program(vec![
        sequence(vec![load(0, X), store(X, 1), load(1, X)]),
        sequence(vec![exchange(0, X, 7), Instruction::Fence]),
    ]);
    program.shared[0].name = "a_rather_long_name".into();
    let replay = accept(&program, Model::Tso, "0 0 0f 0 1 1");
    let (mut layouts, mut narrow) = (BTreeSet::new(), 0);
    for line_width in 30..200 {
        let options = LaneOptions { line_width, ..LaneOptions::default() };
        let picture = Picture::new(&program, &replay, &options);
        // By definition: the first layout that fits, with the widest lanes that do.
        let fitting = |layout: Layout| match layout.steps {
            Steps::List { .. } => Some(picture.table(&layout)).filter(|table| table.width() <= line_width),
            Steps::Lanes { .. } => {
                let widths = (options.least_lane_width..=options.lane_width).rev();
                let tables =
                    widths.map(|lane_width| picture.table(&Layout { steps: Steps::Lanes { lane_width }, ..layout }));
                tables.into_iter().find(|table| table.width() <= line_width)
            }
        };
        let text = lanes(&program, &replay, &options);
        match picture.layouts().enumerate().find_map(|(at, layout)| Some((at, fitting(layout)?))) {
            Some((at, table)) => {
                assert_eq!(text, table.text(), "{line_width}");
                layouts.insert((at, table.width()));
            }
            None => narrow += 1,
        }
        assert!(text.lines().all(|line| line.chars().count() <= line_width), "{line_width}\n{text}");
    }
    assert!(layouts.len() > 10 && narrow > 10, "{layouts:?} {narrow}");
}
