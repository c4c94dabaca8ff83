//! What a web page, a repository or anybody else can put into a session stays in it: no file outside the data folder, no argument of
//! another program, no order to a terminal, nothing that runs in a viewer, no end of the frame that says it is data.

mod child;
mod frames;
mod pages;
mod paths;
mod scene;
mod terminal_escapes;
