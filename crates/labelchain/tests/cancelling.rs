//! Work that is cancelled ends within a second, with an error that says so, and leaves nothing behind.
#![allow(clippy::unwrap_used)]

use std::cell::Cell;
use std::thread;
use std::time::{Duration, Instant};

use labelchain::data::{Dataset, LabelNetwork};
use labelchain::{Cancel, ErrorKind, LabelChain, Progress, Seed};

fn network(n_rows: usize, n_features: usize, n_labels: usize) -> Dataset {
    let network = LabelNetwork { n_rows, n_features, n_labels, ..LabelNetwork::default() };
    network.generate("network", Seed::new(1)).unwrap()
}

/// Each of these would take many times as long as it is given.
#[test]
fn another_thread_stops_training_within_a_second() {
    let data = network(4_000, 60, 12);
    for method in ["dynamic-nb", "dynamic-knn", "oocc-knn", "ecc-j48", "ecc-svm", "ga-nb"] {
        let cancel = Cancel::default();
        let chain = LabelChain::new(method).unwrap().set("members", 200).unwrap();
        let chain = chain.cancelled_by(&cancel);
        let (error, waited) = thread::scope(|scope| {
            let stop = scope.spawn(|| {
                thread::sleep(Duration::from_millis(700));
                cancel.cancel();
                Instant::now()
            });
            let error = chain.fit(&data).unwrap_err();
            (error, stop.join().unwrap().elapsed())
        });
        assert_eq!(error.kind(), ErrorKind::Cancelled, "{method}: {error}");
        // Tests are not optimized, and the machine may be busy with others.
        assert!(waited < Duration::from_secs(4), "{method}: {waited:?}");
    }
}

#[test]
fn progress_can_cancel_and_the_next_run_is_as_if_nothing_had_been() {
    let data = network(120, 6, 4);
    let (cancel, n_calls) = (Cancel::default(), Cell::new(0));
    let stop = |_: Progress| {
        n_calls.set(n_calls.get() + 1);
        cancel.cancel();
    };
    let chain = LabelChain::new("ga-nb").unwrap().set("members", 4).unwrap();
    let stopped = chain.clone().cancelled_by(&cancel).progress(&stop).fit(&data);
    assert_eq!(stopped.unwrap_err().kind(), ErrorKind::Cancelled);
    assert_eq!(n_calls.get(), 1, "no generation after the one that cancelled");
    let [one, other] = [(); 2].map(|()| chain.fit(&data).unwrap().to_bytes().unwrap());
    assert_eq!(one, other);
}

#[test]
fn a_model_has_a_flag_of_its_own() {
    let data = network(60, 3, 2);
    let cancel = Cancel::default();
    let model = LabelChain::new("br-nb").unwrap().cancelled_by(&cancel).fit(&data).unwrap();
    cancel.cancel();
    model.predict(&data).unwrap();
    let stopped = model.cancelled_by(&cancel).predict(&data);
    assert_eq!(stopped.unwrap_err().kind(), ErrorKind::Cancelled);
}
