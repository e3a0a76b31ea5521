//! Forged proofs: those of safe programs, changed at random, for variants that are not safe. None is accepted.
//!
//! `WEIR_SEEDS=10000` makes so many changes; by default they are few.

use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use serde_json::{Value, json};
use weir_testkit::Rng;

use crate::certificate::Proof;
use crate::second_checker::checked_by;
use crate::support::{scratch, weir, write};
use crate::tampering::{changed_leaf, leaves, removable, removed};
use crate::witness::program_record;

/// How a proof is made, and how it is asked about.
struct Kind {
    name: &'static str,
    make: &'static [&'static str],
    ask: &'static [&'static str],
}

const KINDS: [Kind; 8] = [
    Kind { name: "explicit", make: &["reach", "--engine", "explicit", "--symmetry", "off"], ask: &[] },
    Kind { name: "set", make: &["reach", "--engine", "set"], ask: &[] },
    Kind { name: "coherence", make: &["reach", "--engine", "coherence", "--bound", "1"], ask: &[] },
    Kind { name: "dual", make: &["reach", "--engine", "dual"], ask: &[] },
    Kind { name: "check", make: &["check"], ask: &[] },
    Kind { name: "robust", make: &["robust"], ask: &["--property", "robust"] },
    Kind { name: "fences", make: &["fences"], ask: &["--for", "robust"] },
    Kind { name: "never", make: &["prob", "--question", "almost-never"], ask: &["--question", "almost-never"] },
];

/// A program that is safe and robust, and variants of it that are neither: what is replaced, and by what.
struct Family {
    name: &'static str,
    text: &'static str,
    variants: &'static [(&'static str, &'static str)],
}

const FAMILIES: [Family; 4] = [
    Family {
        name: "store-buffering",
        text: "shared x, y;\nthread P { x = 1; fence; let r = y; }\nthread Q { y = 1; fence; let s = x; }\n\
               forbid P at end && Q at end && P.r == 0 && Q.s == 0;\n",
        variants: &[("x = 1; fence;", "x = 1; skip;"), ("y = 1; fence;", "y = 1; skip;"), ("fence;", "x = 1;")],
    },
    Family {
        name: "peterson",
        text: "shared a, b, turn;\n\
               thread P { a = 1; turn = 1; fence; await b == 0 || turn == 0; critical: skip; a = 0; }\n\
               thread Q { b = 1; turn = 0; fence; await a == 0 || turn == 1; critical: skip; b = 0; }\n\
               forbid P at critical && Q at critical;\n",
        variants: &[
            ("turn = 1; fence;", "turn = 1; skip;"),
            ("turn = 0; fence;", "turn = 1; fence;"),
            ("a == 0", "a <= 1"),
        ],
    },
    Family {
        name: "counter",
        text: "const N = 2;\nshared x;\nthread P { let i = 0; while i < N { i = i + 1; x = i; } }\n\
               thread Q { let s = x; fence; assert s < 3; }\nforbid x == 3;\n",
        variants: &[("N = 2", "N = 3"), ("i + 1", "i + 3")],
    },
    Family {
        name: "waiting",
        text: "shared x, y;\nthread P { x = 1; await y == 1; let r = x; }\n\
               thread Q { await x == 1; y = 1; fence; let s = x; }\nforbid stuck; live P at end;\n",
        variants: &[("y = 1", "y = 2"), ("x = 1;", "x = 2;"), ("x = 1; await y == 1;", "await y == 1; x = 1;")],
    },
];

/// Rows of states, as docs/evidence.md has them.
struct Rows(Vec<Vec<u8>>);

fn number(bytes: &[u8], at: &mut usize) -> Option<usize> {
    let (mut number, mut shift) = (0, 0);
    loop {
        let byte = *bytes.get(*at)?;
        *at += 1;
        number |= usize::from(byte & 0x7f).checked_shl(shift)?;
        shift += 7;
        if byte < 0x80 {
            return Some(number);
        }
    }
}

fn put(bytes: &mut Vec<u8>, mut number: usize) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

impl Rows {
    fn read(bytes: &[u8], count: usize) -> Option<Self> {
        let (mut at, mut row, mut rows) = (0, Vec::new(), Vec::new());
        for _ in 0..count {
            let (shared, length) = (number(bytes, &mut at)?, number(bytes, &mut at)?);
            row.truncate(shared);
            row.extend_from_slice(bytes.get(at..at.checked_add(length)?)?);
            at += length;
            rows.push(row.clone());
        }
        Some(Self(rows))
    }

    fn bytes(mut self) -> (usize, Vec<u8>) {
        self.0.sort();
        self.0.dedup();
        let (mut bytes, mut before): (Vec<u8>, &[u8]) = (Vec::new(), &[]);
        for (place, row) in self.0.iter().enumerate() {
            let shared = if place % 16 == 0 { 0 } else { before.iter().zip(row).take_while(|(a, b)| a == b).count() };
            put(&mut bytes, shared);
            put(&mut bytes, row.len() - shared);
            bytes.extend_from_slice(&row[shared..]);
            before = row;
        }
        (self.0.len(), bytes)
    }
}

/// The proof with other states, if it has some: fewer, other ones, or more.
fn with_other_states(proof: &Proof, rng: &mut Rng) -> Option<Proof> {
    let count = usize::try_from(proof.line["states"].as_u64()?).ok()?;
    let mut plain = Vec::new();
    std::io::Read::read_to_end(&mut ZlibDecoder::new(&proof.body[..]), &mut plain).ok()?;
    let length = usize::try_from(proof.line["bytes"].as_u64()?).ok()?;
    // A change before this one may have been to these numbers.
    if length > plain.len() || count == 0 {
        return None;
    }
    let rest = plain.split_off(length);
    let mut rows = Rows::read(&plain, count.min(plain.len())).filter(|rows| !rows.0.is_empty())?;
    for _ in 0..rng.between(1, 4) {
        let at = rng.below(rows.0.len());
        let mut row = rows.0[at].clone();
        let byte = rng.below(row.len().max(1));
        if row.is_empty() {
            continue;
        }
        match rng.below(4) {
            0 if rows.0.len() > 1 => {
                rows.0.remove(at);
                continue;
            }
            1 => row[byte] = rng.below(8) as u8,
            2 => row[byte] ^= 1,
            _ => row[byte] = row[rng.below(row.len())],
        }
        rows.0.push(row);
    }
    Some(with_states(proof, rows, rest))
}

/// The proof with these states, and with what follows them.
fn with_states(proof: &Proof, rows: Rows, rest: Vec<u8>) -> Proof {
    let (states, mut bytes) = rows.bytes();
    let mut line = proof.line.clone();
    (line["states"], line["bytes"]) = (json!(states), json!(bytes.len()));
    bytes.extend(rest);
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    std::io::Write::write_all(&mut encoder, &bytes).expect("memory");
    Proof::new(line, encoder.finish().expect("memory"))
}

/// The proof with one or two changes.
fn changed(proof: &Proof, rng: &mut Rng) -> Proof {
    let mut forged = proof.clone();
    for _ in 0..rng.between(1, 2) {
        let places = leaves(&forged.line);
        let removable = removable(&forged.line);
        forged = match rng.below(6) {
            0 => forged.with(changed_leaf(&forged.line, &places[rng.below(places.len())])),
            1 => forged.with(removed(&forged.line, &removable[rng.below(removable.len())])),
            2 => {
                let mut line = forged.line.clone();
                let (one, other) = (&places[rng.below(places.len())], &places[rng.below(places.len())]);
                let value = line.pointer(other).cloned();
                *line.pointer_mut(one).expect("a place") = value.expect("a place");
                forged.with(line)
            }
            3 if !forged.body.is_empty() => {
                let at = rng.below(forged.body.len());
                forged.body[at] ^= 1 << rng.below(8);
                forged
            }
            _ => with_other_states(&forged, rng).unwrap_or(forged),
        };
    }
    forged
}

/// What a variant of a program is, in metadata, and the proofs that there are for the original.
struct Target {
    variant: String,
    record: Value,
    proofs: Vec<(&'static Kind, Proof)>,
}

fn targets(folder: &Path) -> Vec<Target> {
    let mut targets = Vec::new();
    for family in &FAMILIES {
        let program = write(folder, &format!("{}.weir", family.name), family.text);
        let path = folder.join("proof").to_str().expect("the path is UTF-8").to_owned();
        let prove = |kind: &'static Kind| {
            let _ = std::fs::remove_file(&path);
            let ran = weir(&[kind.make, &["-q", "--certificate", &path, &program]].concat());
            ran.assert_no_bug();
            Path::new(&path).exists().then(|| (kind, Proof::read(&path)))
        };
        let proofs: Vec<(&Kind, Proof)> = KINDS.iter().filter_map(prove).collect();
        assert!(proofs.len() >= 4, "{}: {} proofs", family.name, proofs.len());
        for (number, (old, new)) in family.variants.iter().enumerate() {
            let text = family.text.replacen(old, new, 1);
            assert_ne!(text, family.text);
            let variant = write(folder, &format!("{}-{number}.weir", family.name), &text);
            // Only what is not so of the variant must not be proved of it.
            let is_false = |kind: &Kind| {
                let check = match kind.name {
                    "fences" => return weir(&["fences", "-q", &variant]).stdout.contains("fences make"),
                    "robust" => weir(&["robust", "-q", &variant]),
                    "check" => weir(&["check", "-q", &variant]),
                    "never" => weir(&[kind.make, &["-q", &variant]].concat()),
                    _ => weir(&["reach", "-q", &variant]),
                };
                check.status == Some(1)
            };
            let proofs: Vec<_> = proofs.iter().filter(|(kind, _)| is_false(kind)).cloned().collect();
            if !proofs.is_empty() {
                targets.push(Target { record: program_record(&variant), variant, proofs });
            }
        }
    }
    targets
}

#[test]
#[allow(clippy::print_stdout, reason = "how many were tried is what one wants to know")]
fn no_changed_proof_is_accepted_for_an_unsafe_variant() {
    let folder = scratch("forged");
    let targets = targets(&folder);
    let all: Vec<(&Target, &Kind, &Proof)> = targets
        .iter()
        .flat_map(|target| target.proofs.iter().map(move |(kind, proof)| (target, *kind, proof)))
        .collect();
    assert!(targets.len() >= 6 && all.len() >= 25, "{} variants, {} proofs", targets.len(), all.len());
    let rounds: u64 = std::env::var("WEIR_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(60);
    let path = folder.join("forged").to_str().expect("the path is UTF-8").to_owned();
    let mut refused = [0u64; 3];
    for seed in 0..rounds {
        let mut rng = Rng::new(seed);
        let (target, kind, proof) = all[rng.below(all.len())];
        let mut forged = if seed < all.len() as u64 { all[seed as usize].2.clone() } else { changed(proof, &mut rng) };
        let (target, kind) =
            if seed < all.len() as u64 { (all[seed as usize].0, all[seed as usize].1) } else { (target, kind) };
        forged.line["metadata"]["program"] = target.record.clone();
        forged.write(&path);
        let ran = weir(&[&["replay", "-q", &target.variant, &path], kind.ask].concat());
        ran.assert_no_bug();
        let status = ran.status.expect("it ends");
        assert!((1..=3).contains(&status), "seed {seed}, {} for {}: {ran:?}", kind.name, target.variant);
        refused[status as usize - 1] += 1;
    }
    println!("{rounds} forged proofs: {} refused, {} malformed, {} undecided", refused[0], refused[1], refused[2]);
    assert!(refused[0] > rounds / 4, "{refused:?}");
}

/// Programs for any number of threads: one that is robust, and one that is safe although it is not.
const ANY_NUMBER: [Family; 2] = [
    Family {
        name: "any-number",
        text: "shared x, y;\nthread P[*] { x = 1; fence; let r = y; if r == 0 { first: skip; } }\n\
               thread Q[*] { y = 1; fence; let s = x; if s == 0 { second: skip; } }\n\
               forbid P at first && Q at second;\n",
        variants: &[("x = 1; fence;", "x = 1; skip;")],
    },
    Family {
        name: "with-stop",
        text: "shared taken: 0..1, stop: 0..1;\n\
               thread T[*] { loop { while xchg(taken, 1) == 1 { } critical: skip; taken = 0; \
               if stop == 1 { break; } } }\n\
               thread Stopper { stop = 1; if taken == 0 { skip; } }\nforbid count(T at critical) >= 2;\n",
        variants: &[("xchg(taken, 1) == 1", "xchg(taken, 1) == 2")],
    },
];

/// What the checker in Python is asked: whether the proof of a safe program is one for an unsafe variant.
struct AskedAgain {
    proof: Proof,
    variant: String,
    record: Value,
    automaton: PathBuf,
    places: PathBuf,
    ask: &'static [&'static str],
}

impl AskedAgain {
    fn new(folder: &Path, family: &Family, make: &[&str], ask: &'static [&'static str]) -> Self {
        let (old, new) = family.variants[0];
        let program = write(folder, &format!("{}.weir", family.name), family.text);
        let variant = write(folder, &format!("{}-unsafe.weir", family.name), family.text.replacen(old, new, 1));
        let path = folder.join("proof").to_str().expect("the path is UTF-8").to_owned();
        let ran = weir(&[make, &["-q", "--certificate", &path, &program]].concat());
        assert_eq!(ran.status, Some(0), "{ran:?}");
        let automaton = folder.join(format!("{}-unsafe.json", family.name));
        let translated = weir(&["translate", "--to", "json", &variant]).stdout;
        std::fs::write(&automaton, translated).expect("it can be written");
        let places = folder.join(format!("{}-places.json", family.name));
        let translated = weir(&["translate", "--to", "json", "--pass", "places", &variant]).stdout;
        std::fs::write(&places, translated).expect("it can be written");
        let proof = Proof::read(&path);
        Self { proof, record: record_of(&variant, folder), variant, automaton, places, ask }
    }
}

/// The program of a file that is not safe, as evidence describes it.
fn record_of(variant: &str, folder: &Path) -> Value {
    let path = folder.join("run");
    let ran = weir(&["check", "-q", "--witness", path.to_str().expect("the path is UTF-8"), variant]);
    assert_eq!(ran.status, Some(1), "{ran:?}");
    let run: Value = serde_json::from_slice(&std::fs::read(&path).expect("it was saved")).expect("JSON");
    run["metadata"]["program"].clone()
}

/// As above, with the checker in Python.
#[test]
#[allow(clippy::print_stdout, reason = "how many were tried is what one wants to know")]
fn nor_is_it_by_the_second_checker() {
    if !crate::second_checker::has_python() {
        return;
    }
    let folder = scratch("forged-second");
    let safe: &[&str] = &["reach", "--engine", "explicit"];
    let dual: &[&str] = &["reach", "--engine", "dual"];
    let never: &[&str] = &["prob", "--question", "almost-never"];
    let robust: &[&str] = &["--property", "robust"];
    let asked = [
        (&FAMILIES[0], safe, &[][..]),
        (&FAMILIES[3], safe, &[]),
        (&FAMILIES[0], &["robust"], robust),
        (&FAMILIES[0], dual, &[]),
        (&FAMILIES[1], dual, &[]),
        (&FAMILIES[0], &["fences"], &["--for", "robust"]),
        (&FAMILIES[0], never, &["--question", "almost-never"]),
        (&FAMILIES[1], never, &["--question", "almost-never"]),
        (&ANY_NUMBER[0], &["check"], &[]),
        (&ANY_NUMBER[0], &["robust"], robust),
        (&ANY_NUMBER[1], &["check"], &[]),
    ];
    let asked = asked.map(|(family, make, ask)| AskedAgain::new(&folder, family, make, ask));
    let count = asked.len() as u64;
    let path = folder.join("forged").to_str().expect("the path is UTF-8").to_owned();
    let rounds: u64 = std::env::var("WEIR_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(count + 12);
    let mut refused = [0u64; 3];
    for seed in 0..rounds {
        let AskedAgain { proof, variant, record, automaton, places, ask } = &asked[(seed % count) as usize];
        let mut forged = if seed < count { proof.clone() } else { changed(proof, &mut Rng::new(seed)) };
        forged.line["metadata"]["program"] = record.clone();
        forged.write(&path);
        let asked = [&["--text", variant, "--places", places.to_str().expect("the path is UTF-8")], *ask].concat();
        let (status, said) = checked_by("weir_check_more.py", automaton, Path::new(&path), &asked);
        assert!(matches!(status, Some(1..=3)) && !said.contains("Traceback"), "seed {seed}: {said}");
        // A proof as it is is about the right question, but not true.
        assert!(seed >= count || status == Some(1), "seed {seed}: {said}");
        refused[status.unwrap_or(1) as usize - 1] += 1;
    }
    println!("{rounds} forged proofs for the second checker: {refused:?} refused, malformed, of another kind");
}

/// Without one of its states, a proof of robustness is none: the attacks that begin in this program go on in a locked
/// section, and end nowhere. By default, some states are tried in which the attacker has halted.
#[test]
fn every_state_of_an_attempted_attack_is_needed() {
    let folder = scratch("forged-attacks");
    let text = "shared x, y, w; thread P { x = 1; let r = y; }\n\
                thread Q { lock; let s = w; y = s; unlock; let t = w; }\n";
    let program = write(&folder, "program.weir", text);
    let path = folder.join("proof").to_str().expect("the path is UTF-8").to_owned();
    assert_eq!(weir(&["robust", "-q", "--certificate", &path, &program]).status, Some(0));
    let automaton = folder.join("program.json");
    std::fs::write(&automaton, weir(&["translate", "--to", "json", &program]).stdout).expect("it can be written");
    let proof = Proof::read(&path);
    let count = usize::try_from(proof.line["states"].as_u64().expect("a number")).expect("a small one");
    assert_eq!(count, 32);
    let mut plain = Vec::new();
    std::io::Read::read_to_end(&mut ZlibDecoder::new(&proof.body[..]), &mut plain).expect("zlib");
    for left_out in if std::env::var_os("WEIR_SEEDS").is_some() { 0..count } else { 6..13 } {
        let mut rows = Rows::read(&plain, count).expect("rows");
        rows.0.remove(left_out);
        with_states(&proof, rows, Vec::new()).write(&path);
        let asked = ["--property", "robust"];
        let replayed = weir(&[&["replay", "-q", &program, &path], &asked[..]].concat());
        assert_eq!(replayed.status, Some(1), "without state {left_out}: {replayed:?}");
        if crate::second_checker::has_python() {
            let (status, said) = crate::second_checker::checked(&automaton, Path::new(&path), &asked);
            assert_eq!(status, Some(1), "without state {left_out}: {said}");
        }
    }
}

/// The row of a state of the program below: the thread that attacks, if any, and what follows its location; the place of
/// the other thread; and the cells that are 1.
fn row(attack: Option<(usize, &[u8])>, locations: [u8; 2], on_path: bool, ones: u8) -> Vec<u8> {
    let mut row = Vec::new();
    for (thread, &location) in locations.iter().enumerate() {
        row.push(location);
        match attack {
            Some((attacker, monitor)) if attacker == thread => row.extend(monitor),
            // Address 0 and value 2, which are written as 0 and 4, if it is on the path; no unordered stores.
            _ => row.extend(if on_path { &[1, 0, 4, 0][..] } else { &[0, 0] }),
        }
    }
    let cells = [2, 4].into_iter().enumerate().filter(|(bit, _)| ones >> bit & 1 == 1);
    let cells: Vec<u8> = cells.flat_map(|(_, address)| [address, 2]).collect();
    row.push(cells.len() as u8 / 2);
    row.extend(cells);
    row.push(0);
    row
}

/// All states that there could be are a closed set, but an attack has succeeded in some of them.
#[test]
fn the_set_of_all_states_proves_nothing() {
    let folder = scratch("forged-all");
    let text = |between: &str| {
        let thread = |name, mine, other| format!("thread {name} {{ {mine} = 1; {between}; let r = {other}; }}\n");
        format!("shared x, y;\n{}{}forbid x == 7;\n", thread("P", "x", "y"), thread("Q", "y", "x"))
    };
    let (safe, variant) = (write(&folder, "safe.weir", text("fence")), write(&folder, "unsafe.weir", text("skip")));
    let path = folder.join("proof").to_str().expect("the path is UTF-8").to_owned();
    assert_eq!(weir(&["robust", "-q", "--certificate", &path, &safe]).status, Some(0));
    let proof = Proof::read(&path);
    assert_eq!(proof.line["registers"], json!([[[], [], [], []], [[], [], [], []]]));
    let mut rows = Vec::new();
    for (first, second, ones) in (0..64).map(|number| (number % 4, number / 4 % 4, number / 16)) {
        rows.push(row(None, [first, second], false, ones));
        for attacker in 0..2 {
            let address = 2 + 2 * attacker as u8;
            // The queue says whose store waits, and the overlay that its value is 1.
            rows.push(row(Some((attacker, &[1, address, 0, 1, address, 2, 0])), [first, second], false, ones));
            // On the path, each of the two addresses has level 0, 1 or 2.
            for levels in (0..9).map(|number| [number % 3, number / 3]) {
                let at = if attacker == 0 { [0, second] } else { [first, 0] };
                let mut monitor = vec![1, address, 2, levels.iter().filter(|&&level| level > 0).count() as u8];
                for (cell, &level) in levels.iter().enumerate().filter(|(_, level)| **level > 0) {
                    monitor.extend([2 + 2 * cell as u8, 2 * level, 0]);
                }
                rows.extend([false, true].map(|on_path| row(Some((attacker, &monitor)), at, on_path, ones)));
            }
        }
    }
    let mut forged = with_states(&proof, Rows(rows), Vec::new());
    forged.line["metadata"]["program"] = program_record(&variant);
    forged.write(&path);
    let asked = ["--property", "robust"];
    let replayed = weir(&[&["replay", "-q", &variant, &path], &asked[..]].concat());
    assert_eq!(replayed.status, Some(1), "{replayed:?}");
    assert!(replayed.stdout.contains("it violates a property"), "{replayed:?}");
    if crate::second_checker::has_python() {
        let automaton = folder.join("unsafe.json");
        std::fs::write(&automaton, weir(&["translate", "--to", "json", &variant]).stdout).expect("it can be written");
        let (status, said) = crate::second_checker::checked(&automaton, Path::new(&path), &asked);
        assert!(status == Some(1) && said.contains("shows a property"), "{said}");
    }
}
