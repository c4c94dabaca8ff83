//! How much room a text takes in a model's context: the one estimate of tokens. Pure.

/// The token estimate: bytes of UTF-8 per two tokens. Text like ours has 3.5 to 4.5 bytes per token, so this overestimates.
const BYTES_PER_TWO_TOKENS: usize = 7;
/// The estimate in words, for messages.
pub const ESTIMATE: &str = "one token for 3.5 bytes of UTF-8";

/// The estimated tokens of a text.
pub fn tokens(text: &str) -> usize {
    (text.len() * 2).div_ceil(BYTES_PER_TWO_TOKENS)
}

/// The most bytes that fit into so many tokens.
pub fn max_bytes(tokens: usize) -> usize {
    tokens.saturating_mul(BYTES_PER_TWO_TOKENS) / 2
}

/// The number of whole tokens that so many bytes have room for.
pub fn tokens_in(bytes: usize) -> usize {
    bytes * 2 / BYTES_PER_TWO_TOKENS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_room_of_so_many_tokens_is_filled_by_so_many_and_no_more() {
        for count in 0..50 {
            let most = max_bytes(count);
            assert!(tokens(&"x".repeat(most)) <= count && tokens(&"x".repeat(most + 1)) > count, "{count}");
            assert!(max_bytes(tokens_in(count)) <= count, "{count} bytes");
        }
        assert_eq!(max_bytes(usize::MAX), usize::MAX / 2, "no budget is too large to count with");
    }
}
