//! How long a study takes to be read as a roll, and its features to pass by twice: `measure_roll STUDY [PEOPLE_TABLE]`.

use restive_tables::{Roll, write_people};
use std::path::Path;
use std::time::Instant;

fn main() -> Result<(), restive_tables::Error> {
    let asked: Vec<String> = std::env::args().skip(1).collect();
    let folder = Path::new(asked.first().expect("the folder of a study"));
    let mut start = Instant::now();
    let mut took = |what: &str| {
        println!("{what:24} {:6.2} s", start.elapsed().as_secs_f64());
        start = Instant::now();
    };
    println!("about {:?} people", Roll::estimate(folder)?);
    let roll = Roll::read(folder)?;
    took("names and log");
    for pass in ["features", "features again"] {
        let mut people = 0;
        for piece in roll.pieces(1 << 15)? {
            people += piece?.positions.len();
        }
        assert_eq!(people, roll.people());
        took(pass);
    }
    println!("{}", roll.fingerprint()?);
    took("fingerprint");
    let few: Vec<u32> = (0..roll.people() as u32).step_by((roll.people() / 20_000).max(1)).collect();
    let found: usize = roll.some(&few)?.map(|piece| piece.map_or(0, |piece| piece.positions.len())).sum();
    took(&format!("{found} of them"));
    if let Some(out) = asked.get(1) {
        write_people(&roll, Path::new(out), 8)?;
        took("table of people");
    }
    println!("{:?}", roll.counts());
    Ok(())
}
