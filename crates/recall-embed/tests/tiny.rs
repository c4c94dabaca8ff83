//! A model of the same shape as the real ones, with few and made-up weights, against a second way to compute the same: plain loops in f64.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use recall_embed::model::{Model, ModelFolder, Role};
use recall_embed::protocol::serve;
use safetensors::Dtype;
use safetensors::tensor::TensorView;
use serde_json::{Value, json};
use tempfile::TempDir;

const WORDS: [&str; 12] = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "index", "is", "slow", "fast", "##er", "query", ":"];
const WIDTH: usize = 8;
const INNER: usize = 12;
const HEADS: usize = 2;
const LAYERS: usize = 2;
const POSITIONS: usize = 16;

/// A tensor as the second way sees it.
type Tensors = BTreeMap<String, (Vec<usize>, Vec<f32>)>;

/// Made-up weights: small, different, the same in every run.
fn tensors() -> Tensors {
    let mut seed = 7_u64;
    let mut all = Tensors::new();
    let mut add = |name: String, shape: &[usize]| {
        let numbers = (0..shape.iter().product()).map(|_| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((seed >> 40) as f32 / (1 << 24) as f32 - 0.5) * 1.6
        });
        let numbers = numbers.collect();
        all.insert(name, (shape.to_vec(), numbers));
    };
    add("embeddings.word_embeddings.weight".into(), &[WORDS.len(), WIDTH]);
    add("embeddings.position_embeddings.weight".into(), &[POSITIONS, WIDTH]);
    add("embeddings.token_type_embeddings.weight".into(), &[2, WIDTH]);
    let mut norm = |name: &str| {
        add(format!("{name}.weight"), &[WIDTH]);
        add(format!("{name}.bias"), &[WIDTH]);
    };
    norm("embeddings.LayerNorm");
    for layer in 0..LAYERS {
        norm(&format!("encoder.layer.{layer}.attention.output.LayerNorm"));
        norm(&format!("encoder.layer.{layer}.output.LayerNorm"));
    }
    for layer in 0..LAYERS {
        let linears = [
            ("attention.self.query", WIDTH, WIDTH),
            ("attention.self.key", WIDTH, WIDTH),
            ("attention.self.value", WIDTH, WIDTH),
            ("attention.output.dense", WIDTH, WIDTH),
            ("intermediate.dense", WIDTH, INNER),
            ("output.dense", INNER, WIDTH),
        ];
        for (name, from, to) in linears {
            add(format!("encoder.layer.{layer}.{name}.weight"), &[to, from]);
            add(format!("encoder.layer.{layer}.{name}.bias"), &[to]);
        }
    }
    all
}

fn config() -> Value {
    json!({
        "model_type": "bert", "vocab_size": WORDS.len(), "hidden_size": WIDTH, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS,
        "intermediate_size": INNER, "max_position_embeddings": POSITIONS, "layer_norm_eps": 1e-12, "hidden_act": "gelu",
    })
}

fn tokenizer() -> Value {
    let vocab: BTreeMap<&str, usize> = WORDS.iter().enumerate().map(|(at, word)| (*word, at)).collect();
    let special = |word: &str| json!({"id": word, "ids": [vocab[word]], "tokens": [word]});
    json!({
        "version": "1.0", "added_tokens": [],
        // As the real ones have it: it has no effect.
        "truncation": {"direction": "Right", "max_length": 5, "strategy": "LongestFirst", "stride": 0},
        "padding": {"strategy": {"Fixed": 12}, "direction": "Right", "pad_to_multiple_of": null, "pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]"},
        "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": null, "lowercase": true},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "[SEP]", "type_id": 0}}],
            "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
            "special_tokens": {"[CLS]": special("[CLS]"), "[SEP]": special("[SEP]")},
        },
        "decoder": null,
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100, "vocab": vocab},
    })
}

fn bytes_of(tensors: &Tensors) -> Vec<u8> {
    let raw: BTreeMap<&String, (Vec<usize>, Vec<u8>)> = tensors
        .iter()
        .map(|(name, (shape, all))| (name, (shape.clone(), all.iter().flat_map(|x| x.to_le_bytes()).collect())))
        .collect();
    let views = raw
        .iter()
        .map(|(name, (shape, bytes))| (name.as_str(), TensorView::new(Dtype::F32, shape.clone(), bytes).expect("a tensor")));
    safetensors::serialize(views, None).expect("a file")
}

/// A folder of that name with the model.
fn folder(name: &str, pooling: &Value, max_tokens: usize) -> TempDir {
    let dir = TempDir::new().expect("a folder");
    let at = dir.path().join(name);
    fs::create_dir_all(at.join("1_Pooling")).expect("a folder");
    for (file, content) in [
        ("config.json", config()),
        ("tokenizer.json", tokenizer()),
        ("1_Pooling/config.json", pooling.clone()),
        ("sentence_bert_config.json", json!({"max_seq_length": max_tokens})),
    ] {
        fs::write(at.join(file), content.to_string()).expect("a file");
    }
    fs::write(at.join("model.safetensors"), bytes_of(&tensors())).expect("the weights");
    dir
}

fn embed(at: &Path, texts: &[&str], role: Role) -> Vec<Vec<f32>> {
    let folder = ModelFolder::open(at).expect("a model");
    let weights = folder.weights().expect("its weights");
    Model::of(&folder, &weights).expect("a model").embed(texts, role).expect("vectors")
}

fn mean() -> Value {
    json!({"pooling_mode_mean_tokens": true, "pooling_mode_cls_token": false})
}

/// The second way: a vector for the tokens of a text, by plain loops.
struct Plain(Tensors);

impl Plain {
    fn at(&self, name: &str, row: usize, column: usize) -> f64 {
        let (shape, all) = &self.0[name];
        f64::from(all[if shape.len() == 1 { column } else { row * shape[1] + column }])
    }

    fn linear(&self, name: &str, x: &[f64]) -> Vec<f64> {
        let rows = self.0[&format!("{name}.bias")].1.len();
        let weight = |row, column| self.at(&format!("{name}.weight"), row, column);
        (0..rows)
            .map(|row| {
                x.iter().enumerate().map(|(column, x)| weight(row, column) * x).sum::<f64>()
                    + self.at(&format!("{name}.bias"), 0, row)
            })
            .collect()
    }

    fn norm(&self, name: &str, x: &[f64]) -> Vec<f64> {
        let mean = x.iter().sum::<f64>() / x.len() as f64;
        let variance = x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / x.len() as f64;
        let scaled = |(at, x): (usize, &f64)| {
            (x - mean) / (variance + 1e-12).sqrt() * self.at(&format!("{name}.weight"), 0, at)
                + self.at(&format!("{name}.bias"), 0, at)
        };
        x.iter().enumerate().map(scaled).collect()
    }

    fn rows(&self, tokens: &[usize]) -> Vec<Vec<f64>> {
        let embedded = |(position, token): (usize, &usize)| {
            let sum = |column| {
                self.at("embeddings.word_embeddings.weight", *token, column)
                    + self.at("embeddings.position_embeddings.weight", position, column)
                    + self.at("embeddings.token_type_embeddings.weight", 0, column)
            };
            self.norm("embeddings.LayerNorm", &(0..WIDTH).map(sum).collect::<Vec<_>>())
        };
        let mut x: Vec<Vec<f64>> = tokens.iter().enumerate().map(embedded).collect();
        for layer in 0..LAYERS {
            let name = |part: &str| format!("encoder.layer.{layer}.{part}");
            let of = |part: &str| x.iter().map(|x| self.linear(&name(part), x)).collect::<Vec<_>>();
            let (query, key, value) = (of("attention.self.query"), of("attention.self.key"), of("attention.self.value"));
            let mut attended = vec![vec![0.0; WIDTH]; x.len()];
            let size = WIDTH / HEADS;
            for head in 0..HEADS {
                let part = head * size..(head + 1) * size;
                for (to, query) in attended.iter_mut().zip(&query) {
                    let score = |key: &Vec<f64>| part.clone().map(|at| query[at] * key[at]).sum::<f64>() / (size as f64).sqrt();
                    let weights: Vec<f64> = key.iter().map(|key| score(key).exp()).collect();
                    let sum: f64 = weights.iter().sum();
                    for at in part.clone() {
                        to[at] = weights.iter().zip(&value).map(|(weight, value)| weight / sum * value[at]).sum();
                    }
                }
            }
            let add = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a + b).collect::<Vec<_>>();
            for (x, attended) in x.iter_mut().zip(&attended) {
                *x = self
                    .norm(&name("attention.output.LayerNorm"), &add(x, &self.linear(&name("attention.output.dense"), attended)));
                let inner: Vec<f64> = self.linear(&name("intermediate.dense"), x).into_iter().map(gelu).collect();
                *x = self.norm(&name("output.LayerNorm"), &add(x, &self.linear(&name("output.dense"), &inner)));
            }
        }
        x
    }

    fn vector(&self, tokens: &[usize], first: bool) -> Vec<f64> {
        let rows = self.rows(tokens);
        let rows = if first { &rows[..1] } else { &rows[..] };
        let mean: Vec<f64> = (0..WIDTH).map(|at| rows.iter().map(|row| row[at]).sum::<f64>() / rows.len() as f64).collect();
        let length = mean.iter().map(|x| x * x).sum::<f64>().sqrt();
        mean.iter().map(|x| x / length).collect()
    }
}

fn gelu(x: f64) -> f64 {
    let (x2, mut term, mut sum) = (x / std::f64::consts::SQRT_2, x / std::f64::consts::SQRT_2, x / std::f64::consts::SQRT_2);
    for n in 1..120 {
        term *= -x2 * x2 / f64::from(n);
        sum += term / f64::from(2 * n + 1);
    }
    0.5 * x * (1.0 + sum * 2.0 / std::f64::consts::PI.sqrt())
}

fn assert_near(found: &[f32], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (a, b) in found.iter().zip(expected) {
        assert!((f64::from(*a) - b).abs() < 1e-4, "{found:?}\n{expected:?}");
    }
}

/// `[CLS] the index is slow ##er [SEP]`
const SLOWER: [usize; 7] = [2, 4, 5, 6, 7, 9, 3];

#[test]
fn vectors_are_those_of_the_second_way() {
    let plain = Plain(tensors());
    let dir = folder("tiny", &mean(), POSITIONS);
    let found = embed(&dir.path().join("tiny"), &["The index is SLOWER", ""], Role::Passage);
    assert_near(&found[0], &plain.vector(&SLOWER, false));
    assert_near(&found[1], &plain.vector(&[2, 3], false));
    let dir = folder("tiny", &json!({"pooling_mode_cls_token": true}), POSITIONS);
    assert_near(&embed(&dir.path().join("tiny"), &["the index is slower"], Role::Passage)[0], &plain.vector(&SLOWER, true));
    // As newer versions of the library write it.
    for (mode, first) in [(json!("cls"), true), (json!("mean"), false), (json!(["cls"]), true)] {
        let dir = folder("tiny", &json!({"embedding_dimension": WIDTH, "pooling_mode": mode}), POSITIONS);
        let found = embed(&dir.path().join("tiny"), &["the index is slower"], Role::Passage);
        assert_near(&found[0], &plain.vector(&SLOWER, first));
    }
}

#[test]
fn a_text_has_the_same_vector_alone_and_among_others() {
    let dir = folder("tiny", &mean(), POSITIONS);
    let at = dir.path().join("tiny");
    let texts = ["the index", "is slow", "faster", "the index is slow the index is fast", "", "index"].repeat(60);
    let together = embed(&at, &texts, Role::Passage);
    for (text, vector) in texts.iter().zip(&together).take(6) {
        let alone = embed(&at, &[text], Role::Passage);
        let difference = alone[0].iter().zip(vector).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(difference < 1e-5, "{text}: {difference}");
    }
}

#[test]
fn a_long_text_is_cut_at_what_the_model_reads() {
    let plain = Plain(tensors());
    let dir = folder("tiny", &mean(), 4);
    // [CLS] and [SEP] count.
    let found = embed(&dir.path().join("tiny"), &["the index is slow the index is slow"], Role::Passage);
    assert_near(&found[0], &plain.vector(&[2, 4, 5, 3], false));
    // Never more than there are positions, whatever the settings say.
    let dir = folder("tiny", &mean(), 10_000);
    embed(&dir.path().join("tiny"), &["the index is slow ".repeat(100).as_str()], Role::Passage);
}

#[test]
fn a_family_that_wants_a_prefix_gets_it() {
    let plain = Plain(tensors());
    let vector = |name: &str, base: &str, role: Role| {
        let dir = folder(name, &mean(), POSITIONS);
        let mut config = config();
        config["_name_or_path"] = json!(base);
        fs::write(dir.path().join(name).join("config.json"), config.to_string()).expect("a file");
        embed(&dir.path().join(name), &["slow"], role).remove(0)
    };
    // [CLS] slow [SEP]
    let bare = plain.vector(&[2, 7, 3], false);
    // [CLS] query : slow [SEP]
    let query = plain.vector(&[2, 10, 11, 7, 3], false);
    // [CLS] passage : slow [SEP], where `passage` is unknown
    let passage = plain.vector(&[2, 1, 11, 7, 3], false);
    // [CLS] represent this sentence for searching relevant passages : slow [SEP], all words unknown
    let instructed = plain.vector(&[2, 1, 1, 1, 1, 1, 1, 1, 11, 7, 3], false);
    assert_near(&vector("multilingual-e5-small", "", Role::Query), &query);
    assert_near(&vector("multilingual-e5-small", "", Role::Passage), &passage);
    assert_near(&vector("bge-small-en-v1.5", "", Role::Query), &instructed);
    assert_near(&vector("bge-small-en-v1.5", "", Role::Passage), &bare);
    assert_near(&vector("all-e5ish", "", Role::Query), &bare);
    // Where the folder does not say it, config.json may.
    assert_near(&vector("model", "intfloat/multilingual-e5-small", Role::Query), &query);
    assert_near(&vector("model", "/cache/BAAI_bge-small-en/", Role::Query), &instructed);
    assert_near(&vector("model", "nreimers/MiniLM-L6-H384-uncased", Role::Query), &bare);
}

fn refused(at: &Path) -> String {
    let opened = ModelFolder::open(at).and_then(|folder| {
        let weights = folder.weights()?;
        Model::of(&folder, &weights).map(drop)
    });
    format!("{:#}", opened.expect_err("it was accepted"))
}

#[test]
fn what_cannot_be_used_is_refused_with_the_reason() {
    let damaged = |file: &str, content: &[u8]| {
        let dir = folder("tiny", &mean(), POSITIONS);
        let at = dir.path().join("tiny");
        fs::write(at.join(file), content).expect("a file");
        refused(&at)
    };
    let with = |key: &str, value: Value| {
        let mut config = config();
        config[key] = value;
        config.to_string().into_bytes()
    };
    assert!(damaged("config.json", &with("model_type", json!("gpt2"))).contains("`gpt2` is not supported, only `bert`"));
    assert!(damaged("config.json", &with("hidden_act", json!("relu"))).contains("`relu` is not supported"));
    assert!(damaged("config.json", &with("num_attention_heads", json!(3))).contains("8 dimensions for 3 heads"));
    assert!(damaged("config.json", &with("num_attention_heads", json!(0))).contains("8 dimensions for 0 heads"));
    assert!(damaged("config.json", &with("num_hidden_layers", json!(3))).contains("has no encoder.layer.2"));
    assert!(damaged("config.json", &with("hidden_size", json!(4_000_000_000_u64))).contains("as config.json says"));
    assert!(damaged("config.json", b"{").contains("cannot read"));
    assert!(damaged("tokenizer.json", b"{}").contains("tokenizer.json"));
    assert!(damaged("model.safetensors", b"").contains("model.safetensors"));
    assert!(damaged("model.safetensors", &[0xff; 64]).contains("model.safetensors is damaged"));
    let mut cut = bytes_of(&tensors());
    cut.truncate(cut.len() - 4);
    assert!(damaged("model.safetensors", &cut).contains("model.safetensors is damaged"));
    for pooling in [
        json!({"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": true}),
        json!({"pooling_mode_max_tokens": true}),
        json!({"pooling_mode_mean_tokens": false, "pooling_mode_lasttoken": true}),
        json!({"pooling_mode": "max"}),
        json!({"pooling_mode": ["cls", "mean"]}),
    ] {
        let said = damaged("1_Pooling/config.json", pooling.to_string().as_bytes());
        assert!(said.contains("only one of the mean and the first token"), "{pooling}: {said}");
    }
    let dense = json!([{"type": "sentence_transformers.models.Transformer"}, {"type": "sentence_transformers.models.Dense"}]);
    assert!(damaged("modules.json", dense.to_string().as_bytes()).contains("`Dense` is not supported"));
    let decoder = tokenizer().to_string().replace("\"decoder\":null", "\"decoder\":~null");
    assert!(damaged("tokenizer.json", decoder.as_bytes()).contains("tokenizer.json: it is damaged"));
    let mut bare = tokenizer();
    bare["post_processor"] = Value::Null;
    assert!(damaged("tokenizer.json", bare.to_string().as_bytes()).contains("adds no tokens around a text"));
    for limit in 0..=2 {
        let said = damaged("sentence_bert_config.json", json!({"max_seq_length": limit}).to_string().as_bytes());
        assert!(said.contains("no room for a text"), "{limit}: {said}");
    }
    assert!(damaged("config.json", &with("max_position_embeddings", json!(1))).contains("no room for a text"));
    assert!(damaged("config.json", &with("hidden_size", json!(0))).contains("0 dimensions"));
    let dir = folder("tiny", &mean(), POSITIONS);
    fs::remove_file(dir.path().join("tiny/model.safetensors")).expect("removed");
    fs::create_dir(dir.path().join("tiny/model.safetensors")).expect("a folder");
    assert!(refused(&dir.path().join("tiny")).contains("is no file"));
    let none = TempDir::new().expect("a folder");
    assert!(refused(none.path()).contains("cannot open"));
}

/// What a tiny model answers.
fn replies(requests: &str) -> Vec<Value> {
    let dir = folder("tiny", &mean(), POSITIONS);
    let folder = ModelFolder::open(&dir.path().join("tiny")).expect("a model");
    let weights = folder.weights().expect("its weights");
    let model = Model::of(&folder, &weights).expect("a model");
    let mut replies = Vec::new();
    serve(&folder, &model, requests.as_bytes(), &mut replies).expect("replies");
    String::from_utf8(replies).expect("UTF-8").lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn each_request_has_its_reply_and_a_wrong_one_ends_nothing() {
    let lines = replies(
        "{\"kind\":\"query\",\"texts\":[\"slow\"]}\n\nnonsense\n{\"kind\":\"song\",\"texts\":[]}\n{\"kind\":\"passage\",\"texts\":[\"a\",\"b\"]}\n{\"kind\":\"passage\",\"texts\":[]}",
    );
    assert_eq!(lines[0], json!({"model": "tiny", "hash": lines[0]["hash"], "dimensions": WIDTH, "max_tokens": POSITIONS}));
    let vectors: Vec<_> = lines[1..].iter().map(|line| line["vectors"].as_array().map(Vec::len)).collect();
    assert_eq!(vectors, [Some(1), None, None, Some(2), Some(0)]);
    assert!(lines[3]["error"].as_str().is_some_and(|why| why.contains("song")), "{}", lines[3]);
}

#[test]
fn numbers_have_six_digits_and_vectors_the_length_one() {
    let reply = replies("{\"kind\":\"passage\",\"texts\":[\"the index\"]}\n").remove(1);
    let vector = reply["vectors"][0].as_array().expect("a vector").clone();
    for number in &vector {
        let digits: String =
            number.to_string().split('e').next().into_iter().flat_map(str::chars).filter(char::is_ascii_digit).collect();
        assert!(digits.trim_start_matches('0').len() <= 6, "{number}");
    }
    let length: f64 = vector.iter().filter_map(Value::as_f64).map(|x| x * x).sum();
    assert!((length - 1.0).abs() < 1e-5, "{length}");
}

#[test]
fn a_request_that_is_too_long_has_one_reply_and_the_next_is_answered() {
    let long = "a".repeat(65 << 20);
    let lines = replies(&format!("{{\"kind\":\"query\",\"texts\":[\"{long}\"]}}\n{{\"kind\":\"query\",\"texts\":[\"index\"]}}\n"));
    assert_eq!(lines.len(), 3);
    assert!(lines[1]["error"].as_str().is_some_and(|why| why.contains("longer than")), "{}", lines[1]);
    assert_eq!(lines[2]["vectors"].as_array().map(Vec::len), Some(1));
}

#[test]
fn weights_that_give_no_numbers_are_an_error_not_a_vector() {
    let dir = folder("tiny", &mean(), POSITIONS);
    let at = dir.path().join("tiny");
    let mut broken = tensors();
    broken.get_mut("encoder.layer.0.output.dense.bias").expect("a tensor").1[3] = f32::NAN;
    fs::write(at.join("model.safetensors"), bytes_of(&broken)).expect("the weights");
    let folder = ModelFolder::open(&at).expect("a model");
    let weights = folder.weights().expect("its weights");
    let said = Model::of(&folder, &weights).expect("a model").embed(&["index"], Role::Query).expect_err("a vector");
    assert!(said.to_string().contains("model.safetensors"), "{said}");
}

#[test]
fn the_hash_is_that_of_the_model_and_not_of_its_place() {
    let hash = |name: &str, change: &dyn Fn(&Path)| {
        let dir = folder(name, &mean(), POSITIONS);
        change(&dir.path().join(name));
        ModelFolder::open(&dir.path().join(name)).expect("a model").hash
    };
    let first = hash("tiny", &|_| ());
    assert!(first.len() == 64 && first == hash("elsewhere", &|_| ()));
    let mut trained = tensors();
    trained.get_mut("encoder.layer.1.output.dense.weight").expect("a tensor").1[0] += 0.5;
    let mut longer = tokenizer();
    longer["model"]["vocab"]["slower"] = json!(6);
    let cls = json!({"pooling_mode_cls_token": true}).to_string();
    let changes: [(&str, Vec<u8>); 4] = [
        ("model.safetensors", bytes_of(&trained)),
        ("tokenizer.json", longer.to_string().into_bytes()),
        ("1_Pooling/config.json", cls.into_bytes()),
        ("sentence_bert_config.json", json!({"max_seq_length": 8}).to_string().into_bytes()),
    ];
    for (file, content) in &changes {
        assert_ne!(first, hash("tiny", &|at| fs::write(at.join(file), content).expect("a file")), "{file}");
    }
}

/// Only where the variable names a folder with a real model: its vectors of two texts that mean the same are nearer than those of others.
#[test]
fn a_real_model_knows_what_is_alike() {
    let Some(at) = std::env::var_os("RECALL_EMBED_MODEL") else {
        eprintln!("skipped: RECALL_EMBED_MODEL names no folder with a real model");
        return;
    };
    let texts = ["The page takes forever to load.", "Why is the site so slow?", "We moved the invoices to another table."];
    let all = embed(Path::new(&at), &texts, Role::Passage);
    let cosine = |a: usize, b: usize| all[a].iter().zip(&all[b]).map(|(a, b)| a * b).sum::<f32>();
    assert!(cosine(0, 1) > cosine(0, 2) + 0.1, "{} {}", cosine(0, 1), cosine(0, 2));
}
