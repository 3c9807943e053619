//! Any bytes are safe to read as a label list, and what was read can be written and read again.
#![no_main]

use labelchain::data::label_list::LabelList;

libfuzzer_sys::fuzz_target!(|text: &[u8]| {
    if let Ok(list) = LabelList::parse("fuzz.xml".as_ref(), text) {
        let names: Vec<String> = list.names().map(String::from).collect();
        let again = LabelList::parse("fuzz.xml".as_ref(), LabelList::text(&names, &[]).as_bytes());
        assert!(again.is_ok_and(|again| again.names().eq(names.iter())), "{names:?}");
    }
});
