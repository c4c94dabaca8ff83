//! The weights of a model: `model.safetensors`, mapped into memory. Of the embeddings of words only those are read that a text has.

use std::fs::File;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use blake3::Hasher;
use memmap2::Mmap;
use ndarray::{ArrayView1, ArrayView2, CowArray, Ix1, Ix2};
use safetensors::{Dtype, SafeTensors};

const DAMAGED: &str = "model.safetensors is damaged; fetch it again";
/// Before the header stands its length.
const LENGTH_BYTES: usize = 8;
/// How much of each tensor identifies it.
const SAMPLE_BYTES: usize = 64;

/// The file, mapped.
pub struct WeightFile {
    map: Mmap,
}

impl WeightFile {
    /// # Errors
    /// When the file cannot be opened.
    pub fn open(path: &Path) -> Result<Self> {
        // A pipe would never end, a folder cannot be mapped.
        let about = std::fs::metadata(path).with_context(|| format!("cannot open {}", path.display()))?;
        ensure!(about.is_file(), "{} is no file", path.display());
        let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
        // SAFETY: the mapped bytes are only read, as numbers of which every pattern of bits is one. A file that is cut short by somebody else
        // while it is mapped ends the process, which holds nothing that could be lost.
        let map = unsafe { Mmap::map(&file) }.with_context(|| format!("cannot map {}", path.display()))?;
        Ok(Self { map })
    }

    /// Tells weights apart without reading them all: the header, the length, and the first numbers of each tensor.
    ///
    /// # Errors
    /// When the file is not whole.
    pub fn identify(&self, hasher: &mut Hasher) -> Result<()> {
        let (header, _) = SafeTensors::read_metadata(&self.map).context(DAMAGED)?;
        let body = header.min(self.map.len().saturating_sub(LENGTH_BYTES)) + LENGTH_BYTES;
        hasher.update(&(self.map.len() as u64).to_le_bytes()).update(&self.map[..body]);
        let tensors = SafeTensors::deserialize(&self.map).context(DAMAGED)?;
        let mut names = tensors.names();
        names.sort_unstable();
        for name in names {
            let data = tensors.tensor(name).context(DAMAGED)?.data();
            hasher.update(&data[..data.len().min(SAMPLE_BYTES)]);
        }
        Ok(())
    }

    /// # Errors
    /// When the file is not whole.
    pub fn read(&self) -> Result<Weights<'_>> {
        let tensors = SafeTensors::deserialize(&self.map).context(DAMAGED)?;
        // Some files name the tensors as a part of a larger model.
        let prefix =
            tensors.names().iter().find_map(|name| name.strip_suffix("embeddings.word_embeddings.weight")).map(str::to_owned);
        let prefix = prefix.context("model.safetensors has no embeddings of words: it is no BERT model")?;
        Ok(Weights { tensors, prefix })
    }
}

/// The tensors of the file by their names.
pub struct Weights<'f> {
    tensors: SafeTensors<'f>,
    prefix: String,
}

impl<'f> Weights<'f> {
    /// A matrix of this shape.
    ///
    /// # Errors
    /// When there is none, or it has another shape or type.
    pub fn matrix(&self, name: &str, shape: (usize, usize)) -> Result<CowArray<'f, f32, Ix2>> {
        let numbers = self.numbers(name, &[shape.0, shape.1])?;
        Ok(match numbers {
            Numbers::Mapped(all) => ArrayView2::from_shape(shape, all)?.into(),
            Numbers::Copied(all) => ndarray::Array2::from_shape_vec(shape, all)?.into(),
        })
    }

    /// A vector of this length.
    ///
    /// # Errors
    /// As for a matrix.
    pub fn vector(&self, name: &str, length: usize) -> Result<CowArray<'f, f32, Ix1>> {
        Ok(match self.numbers(name, &[length])? {
            Numbers::Mapped(all) => ArrayView1::from(all).into(),
            Numbers::Copied(all) => ndarray::Array1::from_vec(all).into(),
        })
    }

    fn numbers(&self, name: &str, shape: &[usize]) -> Result<Numbers<'f>> {
        let name = format!("{}{name}", self.prefix);
        let tensor = self.tensors.tensor(&name).with_context(|| format!("model.safetensors has no {name}"))?;
        ensure!(tensor.shape() == shape, "{name} has the shape {:?}, not {shape:?} as config.json says", tensor.shape());
        if tensor.dtype() != Dtype::F32 {
            bail!("{name} holds numbers of type {:?}; only F32 can be used", tensor.dtype());
        }
        let bytes = tensor.data();
        if cfg!(target_endian = "little")
            && let Ok(all) = bytemuck::try_cast_slice(bytes)
        {
            return Ok(Numbers::Mapped(all));
        }
        let number = |four: &[u8]| f32::from_le_bytes([four[0], four[1], four[2], four[3]]);
        Ok(Numbers::Copied(bytes.chunks_exact(4).map(number).collect()))
    }
}

enum Numbers<'f> {
    Mapped(&'f [f32]),
    /// Of a file in which they do not lie as this machine reads them.
    Copied(Vec<f32>),
}
