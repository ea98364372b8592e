//! The tags of Liquid itself.

mod assign;
mod branch;
mod case;
mod cycle;
mod each;
mod forloop;
mod partial;
mod segment;
mod table;
mod text;

pub(crate) use forloop::ForLoop;

use crate::language::Language;

pub(crate) fn register(language: &mut Language) {
    language
        .add_tag("assign", assign::assign)
        .add_tag("capture", assign::capture)
        .add_tag("increment", assign::increment)
        .add_tag("decrement", assign::decrement)
        .add_tag("echo", assign::echo)
        .add_tag("if", branch::if_true)
        .add_tag("unless", branch::unless)
        .add_tag("case", case::case)
        .add_tag("cycle", cycle::cycle)
        .add_tag("for", each::each)
        .add_tag("break", each::break_loop)
        .add_tag("continue", each::continue_loop)
        .add_tag("tablerow", table::table_row)
        .add_tag("include", partial::include)
        .add_tag("render", partial::render)
        .add_tag("comment", text::comment)
        .add_tag("#", text::inline_comment)
        .add_tag("doc", text::doc)
        .add_tag("raw", text::raw)
        .add_tag("liquid", text::liquid)
        .add_tag("ifchanged", text::if_changed);
}
