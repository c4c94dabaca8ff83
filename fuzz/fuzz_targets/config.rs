#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| recall_fuzz::bodies::config::check(data));
