//! The definition of each function in `template.yaml`: its paths, environment and permissions. The local
//! system gives a function the same and no more, so that an omission shows here.

use std::collections::{BTreeMap, BTreeSet};

use emulators::AnyError;
use emulators::guard::{FOREIGN_QUEUES, Permission, Statement};
use serde::Deserialize;
use serde_yaml_ng::Value;

use crate::filters::Filters;

const TEMPLATE: &str = include_str!("../../../template.yaml");

/// The path of the default route.
pub const REST: &str = "$default";
/// The suffix of a path that matches everything below a prefix.
pub const BELOW: &str = "{proxy+}";

/// A function of the template.
#[derive(Debug, Clone)]
pub struct Function {
    /// Its name in the template.
    pub name: String,
    /// The folder under `functions/`.
    pub binary: String,
    /// Its environment, with unresolved references.
    pub environment: BTreeMap<String, Setting>,
    /// Its policies, without the permissions that its event sources need.
    pub policy: Vec<Statement>,
    /// The paths that lead to it, with any method, as API Gateway spells them: `/v1/orders`,
    /// `/v1/orders/{proxy+}`, and [`REST`].
    pub paths: BTreeSet<String>,
    /// The filters of its event source, if it listens to the table's stream.
    pub stream: Option<Filters>,
}

/// A variable's value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Setting {
    /// A literal text.
    Text(String),
    /// A reference to a parameter or a resource.
    Reference(String),
}

impl Function {
    /// Each allowed action on each resource, regardless of leading keys.
    pub fn permissions(&self) -> BTreeSet<Permission> {
        self.policy.iter().filter(|it| !it.denies).flat_map(Statement::permissions).collect()
    }

    /// Its environment, with these values for parameters and resources.
    ///
    /// # Errors
    /// A reference without a value.
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
                     `emulators`",
                    self.name
                )
                .into()),
            },
        };
        self.environment.iter().map(resolve).collect()
    }
}

/// The weight of the closest match of a request's path, in API Gateway's order: an exact path, a longer
/// prefix, a shorter prefix, the default route. None if no path matches.
pub fn takes(paths: &BTreeSet<String>, path: &str) -> Option<usize> {
    let weigh = |taken: &String| match taken.strip_suffix(BELOW) {
        Some(prefix) => {
            path.strip_prefix(prefix).filter(|below| !below.is_empty()).map(|_| prefix.len())
        }
        None if taken == REST => Some(0),
        None => (taken == path).then_some(usize::MAX),
    };
    paths.iter().filter_map(weigh).max()
}

/// Every function of the template, in its order.
///
/// # Errors
/// A template with a construct that is not implemented here.
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
            Ok(Function {
                name: text(name)?,
                binary: text(&function["Metadata"]["BuildProperties"]["Binary"])?,
                environment,
                policy: policy(&properties["Policies"])?,
                paths: paths(&properties["Events"])?,
                stream: stream(&properties["Events"])?,
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

fn policy(policies: &Value) -> Result<Vec<Statement>, AnyError> {
    let policies = policies.as_sequence().into_iter().flatten();
    let statements = policies.filter_map(|policy| policy["Statement"].as_sequence()).flatten();
    statements.map(statement).collect()
}

/// A statement as it is written. It must have lists, and may have only two conditions: on leading keys, and
/// on the account of a queue.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
struct Written {
    effect: String,
    action: BTreeSet<String>,
    resource: Vec<Value>,
    #[serde(default)]
    condition: Condition,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Condition {
    #[serde(rename = "ForAllValues:StringLike", default)]
    of_all: LeadingKeys,
    #[serde(rename = "StringNotEquals", default)]
    is_not: Value,
}

impl Condition {
    /// Whether the resource belongs to another account than the stack.
    #[expect(clippy::indexing_slicing, reason = "what a YAML value has not is null")]
    fn is_foreign(&self) -> bool {
        let account = &self.is_not["aws:ResourceAccount"];
        matches!(account, Value::Tagged(of) if of.tag == "Ref" && of.value == "AWS::AccountId")
    }
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct LeadingKeys {
    #[serde(rename = "dynamodb:LeadingKeys")]
    patterns: BTreeSet<String>,
}

fn statement(value: &Value) -> Result<Statement, AnyError> {
    let Written { effect, action: actions, resource, condition } =
        serde_yaml_ng::from_value(value.clone())
            .map_err(|cause| format!("template.yaml: {cause}: {value:?}"))?;
    let (is_foreign, leading_keys) = (condition.is_foreign(), condition.of_all.patterns);
    let is_on_items = actions.iter().any(|action| action.starts_with("dynamodb:"));
    let denies = match effect.as_str() {
        "Allow" => false,
        "Deny" => true,
        _ => return Err(format!("template.yaml: Allow or Deny, please: {value:?}").into()),
    };
    if is_on_items == leading_keys.is_empty() {
        return Err(format!("template.yaml: leading keys, please: {value:?}").into());
    }
    let resources = resource.iter().map(resource_name).collect::<Result<BTreeSet<_>, _>>()?;
    if is_foreign != resources.contains(FOREIGN_QUEUES) || is_foreign && resources.len() > 1 {
        return Err(format!("template.yaml: others' queues by their account: {value:?}").into());
    }
    Ok(Statement { denies, actions, resources, leading_keys })
}

/// The name of a resource: `!Ref Secret`, `!GetAtt Table.Arn`, `!Sub ${Table.Arn}/index/GSI1`.
fn resource_name(value: &Value) -> Result<String, AnyError> {
    let Value::Tagged(tagged) = value else {
        return Err(format!("template.yaml: a resource by its name, please: {value:?}").into());
    };
    let name = text(&tagged.value)?;
    Ok(name.replace("${", "").replace('}', "").replace(".Arn", ""))
}

/// The paths of the `HttpApi` events of the API; the shops have another. They must have any method: the function's own
/// table of routes rejects other methods.
fn paths(events: &Value) -> Result<BTreeSet<String>, AnyError> {
    let events = events.as_mapping().into_iter().flatten();
    let is_of_api = |event: &Value| {
        let api = event.get("Properties").and_then(|properties| properties.get("ApiId"));
        matches!(api, Some(Value::Tagged(api)) if api.value == "Api")
    };
    let requests = events.filter(|(_, event)| event["Type"] == "HttpApi" && is_of_api(event));
    let path = |(_, event): (&Value, &Value)| {
        let properties = &event["Properties"];
        let path = text(&properties["Path"])?;
        if properties["Method"] != "ANY" || path.trim_end_matches(BELOW).contains('{') {
            return Err(format!("template.yaml: ANY method of a prefix, please: {event:?}").into());
        }
        Ok(path)
    };
    requests.map(path).collect()
}

/// The filters of the event that is the table's stream.
#[expect(clippy::indexing_slicing, reason = "what a YAML value has not is null")]
fn stream(events: &Value) -> Result<Option<Filters>, AnyError> {
    let mut events = events.as_mapping().into_iter().flatten();
    let Some((_, event)) = events.find(|(_, event)| event["Type"] == "DynamoDB") else {
        return Ok(None);
    };
    let filters = event["Properties"]["FilterCriteria"]["Filters"].as_sequence();
    let patterns = filters.into_iter().flatten().map(|filter| text(&filter["Pattern"]));
    Filters::parse(&patterns.collect::<Result<Vec<_>, _>>()?).map(Some)
}

fn text(value: &Value) -> Result<String, AnyError> {
    match value {
        Value::String(text) => Ok(text.clone()),
        other => Err(format!("template.yaml: text, please: {other:?}").into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closest_path_matches_a_request() {
        let paths = ["/v1/a", "/v1/a/{proxy+}", "/v1/a/b/{proxy+}", REST];
        let paths: BTreeSet<String> = paths.map(str::to_owned).into();
        let weights = ["/v1/a", "/v1/a/b/c", "/v1/a/x", "/v1/a/", "/v1/ab", "/"];
        let weights = weights.map(|path| takes(&paths, path));
        assert_eq!(weights, [Some(usize::MAX), Some(8), Some(6), Some(0), Some(0), Some(0)]);
        assert_eq!(takes(&BTreeSet::from(["/v1/a/{proxy+}".to_owned()]), "/v1/a/"), None);
    }
}
