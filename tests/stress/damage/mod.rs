//! An index that is damaged, gone, closed to us or none at all: nothing of it is lost in silence, nobody waits for it, and the doctor
//! brings back what can be.

mod copy;
mod denied;
mod header;
mod interrupted_repair;
mod kinds;
mod locked;
mod log;
mod permissions;
mod random;
mod repair;
mod reported;
mod scene;
mod values;
