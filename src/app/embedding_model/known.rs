//! The models that can be fetched by name. Sizes and hashes are those of the files at the named revision on the hub; whoever raises a revision
//! raises them too.

/// A file of a model: its size in bytes and its SHA-256.
#[derive(Debug, Clone, Copy)]
pub(super) struct KnownFile {
    pub(super) name: &'static str,
    pub(super) bytes: u64,
    pub(super) sha256: &'static str,
}

/// A model on the hub.
#[derive(Debug, Clone, Copy)]
pub(super) struct KnownModel {
    pub(super) name: &'static str,
    /// What it is good for, in a few words.
    pub(super) about: &'static str,
    pub(super) repository: &'static str,
    pub(super) revision: &'static str,
    pub(super) files: [KnownFile; 3],
    /// How the vectors of the tokens become one: their mean, or that of the first.
    pub(super) mean: bool,
    /// The most tokens that it was made to read.
    pub(super) max_tokens: u32,
}

const fn file(name: &'static str, bytes: u64, sha256: &'static str) -> KnownFile {
    KnownFile { name, bytes, sha256 }
}

/// The first is the one that is fetched where none is named.
pub(super) const KNOWN: [KnownModel; 3] = [
    KnownModel {
        name: "all-MiniLM-L6-v2",
        about: "English, small and fast",
        repository: "sentence-transformers/all-MiniLM-L6-v2",
        revision: "1110a243fdf4706b3f48f1d95db1a4f5529b4d41",
        files: [
            file("config.json", 612, "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41"),
            file("tokenizer.json", 466_247, "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"),
            file("model.safetensors", 90_868_376, "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"),
        ],
        mean: true,
        max_tokens: 256,
    },
    KnownModel {
        name: "bge-small-en-v1.5",
        about: "English, twice as slow",
        repository: "BAAI/bge-small-en-v1.5",
        revision: "5c38ec7c405ec4b44b94cc5a9bb96e735b38267a",
        files: [
            file("config.json", 743, "094f8e891b932f2000c92cfc663bac4c62069f5d8af5b5278c4306aef3084750"),
            file("tokenizer.json", 711_396, "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66"),
            file("model.safetensors", 133_466_304, "3c9f31665447c8911517620762200d2245a2518d6e7208acc78cd9db317e21ad"),
        ],
        mean: false,
        max_tokens: 512,
    },
    KnownModel {
        name: "multilingual-e5-small",
        about: "a hundred languages, twice as slow",
        repository: "intfloat/multilingual-e5-small",
        revision: "614241f622f53c4eeff9890bdc4f31cfecc418b3",
        files: [
            file("config.json", 655, "69137736cab8b8903a07fe8afaafdda25aac55415a12a55d1bffa9f581abf959"),
            file("tokenizer.json", 17_082_730, "0b44a9d7b51c3c62626640cda0e2c2f70fdacdc25bbbd68038369d14ebdf4c39"),
            file("model.safetensors", 470_641_600, "1a55775f53449dac10a2bcbc312469fac40b96d53198c407081a831f81c98477"),
        ],
        mean: true,
        max_tokens: 512,
    },
];

impl KnownModel {
    /// The model of that name, in any case, with or without its owner.
    pub(super) fn named(name: &str) -> Option<&'static Self> {
        let fits = |known: &&Self| known.name.eq_ignore_ascii_case(name) || known.repository.eq_ignore_ascii_case(name);
        KNOWN.iter().find(fits)
    }

    pub(super) fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_known_by_its_name_and_every_pin_is_whole() {
        assert_eq!(KnownModel::named("all-minilm-l6-v2").unwrap().name, "all-MiniLM-L6-v2");
        assert!(KnownModel::named("BAAI/bge-small-en-v1.5").is_some() && KnownModel::named("bge-small").is_none());
        let is_hex = |text: &str| text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
        for model in KNOWN {
            assert!(model.revision.len() == 40 && is_hex(model.revision), "{}", model.name);
            assert!(
                model.files.iter().all(|file| file.sha256.len() == 64 && is_hex(file.sha256) && file.bytes > 0),
                "{}",
                model.name
            );
        }
    }
}
