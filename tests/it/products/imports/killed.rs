//! An import whose process is killed.
