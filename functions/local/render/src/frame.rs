//! The scopes in which templates resolve names. Unlike in the runtimes of `liquid-core`, an unknown name or
//! field is nil, as themes expect.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use liquid_core::error::{Error, Result};
use liquid_core::model::{
    KString, KStringCow, KStringRef, Object, ScalarCow, Value, ValueCow, ValueView, try_find,
};
use liquid_core::runtime::{PartialStore, Registers};
use liquid_core::{Renderable, Runtime};

use crate::machine::Machine;
use crate::value::weight;

/// The root scope of a page: the objects that every template has.
pub(crate) struct Base {
    machine: Rc<Machine>,
    registers: Registers,
    counters: RefCell<Object>,
}

/// A scope with names of its own.
pub(crate) struct Frame<'a> {
    parent: &'a dyn Runtime,
    /// Set for a template that sees the page's objects, but not the names of the including file.
    isolated: Option<Rc<Machine>>,
    values: Vec<(KString, ValueCow<'a>)>,
    /// The assignments in this scope; without it, they go to the parent.
    assigned: Option<Assigned>,
}

struct Assigned {
    machine: Rc<Machine>,
    values: RefCell<Object>,
}

/// The register by which a tag reaches the machine.
#[derive(Default)]
struct Reach(Option<Rc<Machine>>);

/// The machine that renders this page.
pub(crate) fn machine(runtime: &dyn Runtime) -> Result<Rc<Machine>> {
    let reach = runtime.registers().get_mut::<Reach>().0.clone();
    reach.ok_or_else(|| Error::with_msg("a template is rendered outside of a page"))
}

impl Base {
    pub(crate) fn new(machine: Rc<Machine>) -> Self {
        let registers = Registers::default();
        registers.get_mut::<Reach>().0 = Some(Rc::clone(&machine));
        Self { machine, registers, counters: RefCell::default() }
    }
}

impl<'a> Frame<'a> {
    /// The scope of a loop or an included snippet.
    pub(crate) fn within(parent: &'a dyn Runtime, values: Vec<(KString, ValueCow<'a>)>) -> Self {
        Self { parent, isolated: None, values, assigned: None }
    }

    /// The scope of a rendered file, which sees these values and the page's objects.
    pub(crate) fn isolated(
        parent: &'a dyn Runtime,
        machine: Rc<Machine>,
        values: Vec<(KString, ValueCow<'a>)>,
    ) -> Self {
        let assigned = Assigned { machine: Rc::clone(&machine), values: RefCell::default() };
        Self { parent, isolated: Some(machine), values, assigned: Some(assigned) }
    }
}

impl Assigned {
    /// Copies a value, and counts the copy, because a template may read a long text very often.
    fn copy(&self, key: &str, path: &[ScalarCow<'_>]) -> Option<ValueCow<'static>> {
        let values = self.values.borrow();
        let found = try_find(values.get(key)?, path);
        let copied = found.map_or(Value::Nil, ValueCow::into_owned);
        // What is too much ends at the next step.
        let _counted = self.machine.meter.hold(weight(&copied));
        Some(ValueCow::Owned(copied))
    }

    fn put(&self, name: KString, value: Value) -> Option<Value> {
        self.values.borrow_mut().insert(name, value)
    }
}

/// What is at the path below the value.
fn find<'v>(value: &'v dyn ValueView, path: &[ScalarCow<'_>]) -> ValueCow<'v> {
    try_find(value, path).unwrap_or(ValueCow::Owned(Value::Nil))
}

impl Runtime for Base {
    fn partials(&self) -> &dyn PartialStore {
        &NoPartials
    }

    fn name(&self) -> Option<KStringRef<'_>> {
        None
    }

    fn roots(&self) -> BTreeSet<KStringCow<'_>> {
        self.machine.globals.keys().map(|name| name.as_ref().into()).collect()
    }

    fn try_get(&self, path: &[ScalarCow<'_>]) -> Option<ValueCow<'_>> {
        let (first, rest) = path.split_first()?;
        Some(find(self.machine.globals.get(first.to_kstr().as_str())?, rest))
    }

    fn get(&self, path: &[ScalarCow<'_>]) -> Result<ValueCow<'_>> {
        Ok(self.try_get(path).unwrap_or(ValueCow::Owned(Value::Nil)))
    }

    /// Assigns nothing: every file has a frame of its own.
    fn set_global(&self, _name: KString, _value: Value) -> Option<Value> {
        None
    }

    fn set_index(&self, name: KString, value: Value) -> Option<Value> {
        self.counters.borrow_mut().insert(name, value)
    }

    fn get_index<'v>(&'v self, name: &str) -> Option<ValueCow<'v>> {
        self.counters.borrow().get(name).map(|value| ValueCow::Owned(value.clone()))
    }

    fn registers(&self) -> &Registers {
        &self.registers
    }
}

impl Runtime for Frame<'_> {
    fn partials(&self) -> &dyn PartialStore {
        &NoPartials
    }

    fn name(&self) -> Option<KStringRef<'_>> {
        None
    }

    fn roots(&self) -> BTreeSet<KStringCow<'_>> {
        let mut roots = self.parent.roots();
        roots.extend(self.values.iter().map(|(name, _)| KStringCow::from(name.as_ref())));
        roots
    }

    fn try_get(&self, path: &[ScalarCow<'_>]) -> Option<ValueCow<'_>> {
        let (first, rest) = path.split_first()?;
        let name = first.to_kstr();
        let key = name.as_str();
        if let Some((_, value)) = self.values.iter().find(|(name, _)| name.as_str() == key) {
            return Some(find(value.as_view(), rest));
        }
        if let Some(found) = self.assigned.as_ref().and_then(|assigned| assigned.copy(key, rest)) {
            return Some(found);
        }
        match &self.isolated {
            Some(machine) => Some(find(machine.globals.get(key)?, rest)),
            None => self.parent.try_get(path),
        }
    }

    fn get(&self, path: &[ScalarCow<'_>]) -> Result<ValueCow<'_>> {
        Ok(self.try_get(path).unwrap_or(ValueCow::Owned(Value::Nil)))
    }

    fn set_global(&self, name: KString, value: Value) -> Option<Value> {
        match &self.assigned {
            Some(assigned) => assigned.put(name, value),
            None => self.parent.set_global(name, value),
        }
    }

    fn set_index(&self, name: KString, value: Value) -> Option<Value> {
        self.parent.set_index(name, value)
    }

    fn get_index<'v>(&'v self, name: &str) -> Option<ValueCow<'v>> {
        self.parent.get_index(name)
    }

    fn registers(&self) -> &Registers {
        self.parent.registers()
    }
}

/// No partials: tags that include files use the machine, which limits them.
#[derive(Debug)]
struct NoPartials;

impl PartialStore for NoPartials {
    fn contains(&self, _name: &str) -> bool {
        false
    }

    fn names(&self) -> Vec<&str> {
        Vec::new()
    }

    fn try_get(&self, _name: &str) -> Option<Arc<dyn Renderable>> {
        None
    }

    fn get(&self, name: &str) -> Result<Arc<dyn Renderable>> {
        Err(Error::with_msg("no such file").context("name", name.to_owned()))
    }
}
