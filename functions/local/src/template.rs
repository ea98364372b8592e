//! What `template.yaml` gives each function: its routes, its environment, and what it may do. The
//! local system gives the same and no more, so that what a deployment would lack is missing here.

use std::collections::{BTreeMap, BTreeSet};

use gateway::embedded::AnyError;
use gateway::embedded::guard::Permission;
use serde_yaml_ng::Value;

const TEMPLATE: &str = include_str!("../../../template.yaml");

/// A function as the template has it.
#[derive(Debug, Clone)]
pub struct Function {
    /// Its name in the template.
    pub name: String,
    /// The folder under `functions/`.
    pub binary: String,
    /// Its environment, in the template's words.
    pub environment: BTreeMap<String, Setting>,
    /// What its policies allow, beside what its event sources take.
    pub permissions: BTreeSet<Permission>,
    /// Method and path of each of its routes.
    pub routes: BTreeSet<(String, String)>,
    /// Whether it takes what no route takes.
    pub is_default: bool,
}

/// A variable's value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Setting {
    /// As it stands.
    Text(String),
    /// A parameter, or what a resource is referred to by.
    Reference(String),
}

impl Function {
    /// Its environment, where these are the parameters and resources.
    ///
    /// # Errors
    /// A reference to something else.
    pub fn environment(
        &self,
        references: &BTreeMap<String, String>,
    ) -> Result<BTreeMap<String, String>, AnyError> {
        let resolve = |(name, setting): (&String, &Setting)| match setting {
            Setting::Text(text) => Ok((name.clone(), text.clone())),
            Setting::Reference(to) => match references.get(to) {
                Some(text) => Ok((name.clone(), text.clone())),
                None => Err(format!(
                    "template.yaml: {}: {name}: the local system has no {to}: make it in \
                     `gateway::embedded`",
                    self.name
                )
                .into()),
            },
        };
        self.environment.iter().map(resolve).collect()
    }
}

/// Every function of the template, in its order.
///
/// # Errors
/// A template that says something in words that are not understood here.
#[expect(clippy::indexing_slicing, reason = "what a YAML value has not is null")]
pub fn functions() -> Result<Vec<Function>, AnyError> {
    let template: Value = serde_yaml_ng::from_str(TEMPLATE)?;
    let of_all = environment(&template["Globals"]["Function"]["Environment"])?;
    let resources = template["Resources"].as_mapping().ok_or("template.yaml has no resources")?;
    let functions = resources.iter().filter(|(_, it)| it["Type"] == "AWS::Serverless::Function");
    functions
        .map(|(name, function)| {
            let properties = &function["Properties"];
            let mut environment = environment(&properties["Environment"])?;
            environment.extend(of_all.clone());
            let (routes, is_default) = routes(&properties["Events"]);
            Ok(Function {
                name: text(name)?,
                binary: text(&function["Metadata"]["BuildProperties"]["Binary"])?,
                environment,
                permissions: permissions(&properties["Policies"])?,
                routes,
                is_default,
            })
        })
        .collect()
}

fn environment(value: &Value) -> Result<BTreeMap<String, Setting>, AnyError> {
    let variables = value["Variables"].as_mapping().into_iter().flatten();
    let setting = |(name, value): (&Value, &Value)| {
        let value = match value {
            Value::Tagged(tagged) if tagged.tag == "Ref" => {
                Setting::Reference(text(&tagged.value)?)
            }
            plain => Setting::Text(text(plain)?),
        };
        Ok((text(name)?, value))
    };
    variables.map(setting).collect()
}

fn permissions(policies: &Value) -> Result<BTreeSet<Permission>, AnyError> {
    let policies = policies.as_sequence().into_iter().flatten();
    let statements = policies.filter_map(|policy| policy["Statement"].as_sequence()).flatten();
    let mut all = BTreeSet::new();
    for statement in statements {
        let (Some(actions), Some(resources)) =
            (statement["Action"].as_sequence(), statement["Resource"].as_sequence())
        else {
            return Err(format!("template.yaml: lists, please: {statement:?}").into());
        };
        for resource in resources {
            let resource = resource_name(resource)?;
            for action in actions {
                all.insert(Permission { action: text(action)?, resource: resource.clone() });
            }
        }
    }
    Ok(all)
}

/// `!Ref Secret`, `!GetAtt Table.Arn`, `!Sub ${Table.Arn}/index/GSI1`.
fn resource_name(value: &Value) -> Result<String, AnyError> {
    let Value::Tagged(tagged) = value else {
        return Err(format!("template.yaml: a resource by its name, please: {value:?}").into());
    };
    let name = text(&tagged.value)?;
    Ok(name.replace("${", "").replace('}', "").replace(".Arn", ""))
}

fn routes(events: &Value) -> (BTreeSet<(String, String)>, bool) {
    let events = events.as_mapping().into_iter().flatten();
    let mut routes: BTreeSet<(String, String)> = events
        .filter(|(_, event)| event["Type"] == "HttpApi")
        .filter_map(|(_, event)| {
            let properties = &event["Properties"];
            let (method, path) = (properties["Method"].as_str()?, properties["Path"].as_str()?);
            Some((method.to_uppercase(), path.to_owned()))
        })
        .collect();
    let all = routes.len();
    routes.retain(|(_, path)| path != "$default");
    let is_default = routes.len() != all;
    (routes, is_default)
}

fn text(value: &Value) -> Result<String, AnyError> {
    match value {
        Value::String(text) => Ok(text.clone()),
        other => Err(format!("template.yaml: text, please: {other:?}").into()),
    }
}
