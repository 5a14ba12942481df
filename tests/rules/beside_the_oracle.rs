//! The incremental engine equals the batch oracle after every tick of random worlds.

use crate::engine as support;
use proptest::prelude::*;
use support::{Running, differences};
use wats_oracle::world::{Held, Tick, World, crowded_world, world};

/// More worlds, for a long run.
fn cases(default: u32) -> u32 {
    std::env::var("WATS_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(default)
}

/// Runs a world tick by tick on several engines and the oracle.
fn compare(world: &World, workers: &[usize]) -> Result<(), TestCaseError> {
    let config = world.config();
    let mut held = Held::default();
    let mut engines: Vec<Running> = workers.iter().map(|n| Running::start(&config, *n)).collect();
    for (at, tick) in world.ticks().iter().enumerate() {
        held.apply(tick);
        let want = wats_oracle::evaluate(&held.state(&config));
        for (engine, workers) in engines.iter_mut().zip(workers) {
            engine.tick(tick);
            let differences = differences(&want, &engine.views);
            prop_assert!(
                differences.is_empty(),
                "tick {at}, {workers} workers: {} differences\n{}",
                differences.len(),
                differences.into_iter().take(4).collect::<Vec<_>>().join("\n")
            );
        }
    }
    Ok(())
}

/// A world's ticks as one, at its last time.
fn at_once(ticks: &[Tick]) -> Tick {
    let mut all = Tick::default();
    for tick in ticks {
        all.now = tick.now;
        all.events.extend(tick.events.iter().cloned());
        all.blobs.extend(tick.blobs.iter().copied());
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(96), ..ProptestConfig::default() })]

    #[test]
    fn equals_the_oracle_after_every_tick(world in world(10..120)) {
        compare(&world, &[1])?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(24), ..ProptestConfig::default() })]

    #[test]
    fn gives_the_same_answer_on_each_number_of_workers(world in world(10..80)) {
        compare(&world, &[2, 3])?;
    }

    /// One key contradicts so much that its force falls.
    #[test]
    fn equals_the_oracle_where_a_critic_is_spread_thin(world in crowded_world(0..40)) {
        compare(&world, &[1])?;
    }

    #[test]
    fn one_tick_gives_what_many_give(world in world(20..120)) {
        let (config, ticks) = (world.config(), world.ticks());
        let mut held = Held::default();
        ticks.iter().for_each(|tick| held.apply(tick));
        let want = wats_oracle::evaluate(&held.state(&config));
        let mut engine = Running::start(&config, 1);
        engine.tick(&at_once(&ticks));
        let differences = differences(&want, &engine.views);
        prop_assert!(differences.is_empty(), "{}", differences.join("\n"));
    }
}
