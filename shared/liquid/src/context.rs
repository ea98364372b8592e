//! What a template sees and changes while it is rendered.

use std::any::{Any, TypeId};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use jiff::Zoned;

use crate::error::{Error, ErrorKind, Result};
use crate::frame::Frame;
use crate::limits::{Meter, Usage};
use crate::object::Shape;
use crate::runtime::{OnError, Runtime};
use crate::template::{Flow, Template};
use crate::time::DateNames;
use crate::value::Value;

/// The state of a page that is being rendered.
pub struct Context<'a> {
    runtime: &'a Runtime<'a>,
    pub(crate) frame: Frame,
    ambient: Vec<(Arc<str>, Value)>,
    meter: Meter<'a>,
    registers: HashMap<TypeId, Box<dyn Any>>,
    errors: Vec<Error>,
}

impl<'a> Context<'a> {
    /// A page that has not begun.
    pub fn new(runtime: &'a Runtime<'a>) -> Self {
        Self {
            runtime,
            frame: Frame::default(),
            ambient: Vec::new(),
            meter: Meter::new(runtime.limits),
            registers: HashMap::new(),
            errors: Vec::new(),
        }
    }

    /// The value of a name: of loops and arguments, then assigned, counted, ambient, global.
    #[must_use]
    pub fn get(&self, name: &str) -> Value {
        if let Some(value) = self.frame.get(name) {
            return value;
        }
        let ambient = self.ambient.iter().rev().find(|(other, _)| &**other == name);
        if let Some((_, value)) = ambient {
            return value.clone();
        }
        self.runtime.globals.get(name).unwrap_or_default()
    }

    /// Assigns a variable of the template, as `assign` does.
    pub fn assign(&mut self, name: &Arc<str>, value: Value) {
        self.frame.assign(name, value);
    }

    /// Renders with further names, which are gone afterwards: loops, `include`, `paginate`, `form`.
    pub fn scoped<T>(
        &mut self,
        names: impl IntoIterator<Item = (Arc<str>, Value)>,
        render: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let mark = self.frame.names.len();
        self.frame.names.extend(names);
        let result = render(self);
        self.frame.names.truncate(mark);
        result
    }

    /// Renders with further names that are seen in isolated partials, too: `section`, `block`.
    pub fn with_ambient<T>(
        &mut self,
        names: impl IntoIterator<Item = (Arc<str>, Value)>,
        render: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let mark = self.ambient.len();
        self.ambient.extend(names);
        let result = render(self);
        self.ambient.truncate(mark);
        result
    }

    /// Renders with variables of its own: `render`, sections, layouts.
    pub fn isolated<T>(
        &mut self,
        variables: impl IntoIterator<Item = (Arc<str>, Value)>,
        render: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let outer = std::mem::take(&mut self.frame);
        self.frame.template = Arc::clone(&outer.template);
        for (name, value) in variables {
            self.frame.assign(&name, value);
        }
        let result = render(self);
        self.frame = outer;
        result
    }

    /// A partial by name.
    pub fn partial(&self, name: &str) -> Result<Arc<Template>> {
        self.runtime.partials.get(name).ok_or_else(|| {
            Error::new(ErrorKind::MissingPartial, self.runtime.partials.missing(name))
        })
    }

    /// The template of an object.
    pub(crate) fn partial_of(&self, object: &Value) -> Option<Arc<Template>> {
        self.runtime.partials.of_object(object)
    }

    /// The host's own value of a type, made when it is first asked for.
    pub fn register<T: Default + 'static>(&mut self) -> &mut T {
        let any = self.registers.entry(TypeId::of::<T>()).or_insert_with(|| Box::<T>::default());
        if !any.is::<T>() {
            *any = Box::<T>::default();
        }
        match any.downcast_mut() {
            Some(register) => register,
            None => unreachable!("a register is of the type that it is found by"),
        }
    }

    /// What the host gave the page, if it is of this type.
    pub fn host<T: 'static>(&self) -> Option<&'a T> {
        let host: &dyn Any = self.runtime.host?;
        host.downcast_ref()
    }

    /// The time of the page, in the time zone of the shop.
    pub fn now(&self) -> &'a Zoned {
        &self.runtime.now
    }

    /// What dates call months and days.
    pub fn date_names(&self) -> &'a DateNames {
        &self.runtime.date_names
    }

    /// Whether text is escaped that is not HTML already.
    pub fn escapes(&self) -> bool {
        self.runtime.escape
    }

    /// What the page has taken so far.
    pub fn usage(&self) -> Usage {
        self.meter.usage
    }

    /// The failures so far, where they are printed or passed over.
    pub fn errors(&self) -> &[Error] {
        &self.errors
    }

    /// Notes a failure that does not end the page.
    pub fn note(&mut self, error: Error) {
        self.errors.push(error);
    }

    pub(crate) fn into_errors(self) -> Vec<Error> {
        self.errors
    }

    /// Counts steps, as of items that a filter goes through.
    pub fn step(&mut self, steps: usize) -> Result<()> {
        self.meter.step(u64::try_from(steps).unwrap_or(u64::MAX))
    }

    /// Counts bytes of a value before it is made.
    pub fn reserve(&mut self, bytes: usize) -> Result<()> {
        self.meter.bytes(bytes)
    }

    /// Fails once the output is too large.
    pub fn check_output(&self, out: &str) -> Result<()> {
        self.meter.output(out.len())
    }

    /// Renders one level deeper.
    pub fn nested<T>(&mut self, render: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.meter.enter()?;
        let result = render(self);
        self.meter.leave();
        result
    }

    /// The text of a value as output writes it: escaped where the host escapes.
    pub fn escaped<'v>(&self, value: &'v Value) -> Cow<'v, str> {
        match value {
            Value::Html(html) => Cow::Borrowed(html),
            Value::Object(object) if object.as_value().is_some() => {
                Cow::Owned(self.escaped(&value.resolved()).into_owned())
            }
            _ if self.escapes() => crate::html::escape(value.to_text()),
            _ => value.to_text(),
        }
    }

    /// Writes a value as output does: the items of a list one after another.
    pub fn write(&mut self, value: &Value, out: &mut String) -> Result<()> {
        match value {
            Value::Nil => {}
            Value::Int(number) => crate::display::push_int(out, *number),
            Value::Array(items) => {
                self.step(items.len())?;
                return items.iter().try_for_each(|item| self.write(item, out));
            }
            Value::Object(object) if object.shape() == Shape::List => {
                for item in object.items().into_iter().flatten() {
                    self.step(1)?;
                    self.write(&item, out)?;
                }
            }
            _ => out.push_str(&self.escaped(value)),
        }
        self.check_output(out)
    }

    /// Passes a failure on, or prints it and goes on, as the host wants it. That of a tag which never
    /// writes anything is not printed.
    pub(crate) fn failed(
        &mut self,
        error: Error,
        (line, silent): (u32, bool),
        out: &mut String,
    ) -> Result<Flow> {
        let error = error.located(&self.frame.template, line);
        if error.is_limit() || self.runtime.on_error == OnError::Fail {
            return Err(error);
        }
        if !silent && error.kind != ErrorKind::UndefinedFilter {
            self.write(&error.to_string().into(), out)?;
        }
        self.errors.push(error);
        Ok(Flow::Next)
    }

    pub(crate) fn undefined_filter(&mut self, name: &str, line: u32) -> Result<()> {
        let error = Error::new(ErrorKind::UndefinedFilter, format!("undefined filter {name}"));
        let error = error.located(&self.frame.template, line);
        if self.runtime.strict_filters {
            return Err(error);
        }
        self.errors.push(error);
        Ok(())
    }
}
