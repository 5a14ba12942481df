//! Search over stores and indexes on the disk.

mod engine;
mod index;
mod library;
mod pages;
mod ranking;
mod real;
mod words;
