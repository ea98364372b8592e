//! Nothing but its manifest: the features that everything on a developer's machine is built with.
