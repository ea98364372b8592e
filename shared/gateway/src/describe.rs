//! What a row's handler says about itself by its types: parameters, body, answers, and the problems
//! that its arguments reject with. An OpenAPI document is made of it; no deployed binary holds it.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::problem::Code;

/// Where a parameter is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ParameterLocation {
    /// In the path.
    Path,
    /// In the query.
    Query,
    /// A header.
    Header,
}

/// A parameter of an operation.
#[derive(Debug, Clone)]
pub struct Parameter {
    /// Where it is.
    pub location: ParameterLocation,
    /// What it is called.
    pub name: String,
    /// Whether it must be there.
    pub required: bool,
    /// What it looks like.
    pub schema: Schema,
    /// What it means, where its schema does not say it.
    pub description: Option<String>,
}

/// A body that is sent or answered.
#[derive(Debug, Clone)]
pub struct Content {
    /// Its media type.
    pub media_type: &'static str,
    /// What it looks like.
    pub schema: Schema,
}

/// What a successful answer looks like.
#[derive(Debug, Clone)]
pub struct Success {
    /// Its status.
    pub status: u16,
    /// Its body, if it has one.
    pub content: Option<Content>,
    /// Whether it is a page of a list, which may have a `Link` to the next.
    pub is_page: bool,
    /// Whether it says `Cache-Control: no-store`.
    pub no_store: bool,
}

/// Where schemas of requests are referred to, until they stand beside those of answers.
pub const REQUESTS: &str = "/components/requests";
/// Where schemas of answers are.
pub const ANSWERS: &str = "/components/schemas";

/// The schemas of named types, which operations refer to: of what is sent, and of what is answered,
/// since a member that may be left out of the one is always there in the other.
#[derive(Debug)]
pub struct Schemas {
    /// Of requests.
    pub requests: SchemaGenerator,
    /// Of answers.
    pub answers: SchemaGenerator,
}

impl Default for Schemas {
    fn default() -> Self {
        let settings = |path: &'static str| {
            SchemaSettings::draft2020_12().with(|settings| {
                settings.definitions_path = path.into();
                settings.meta_schema = None;
            })
        };
        Self {
            requests: settings(REQUESTS).for_deserialize().into_generator(),
            answers: settings(ANSWERS).for_serialize().into_generator(),
        }
    }
}

/// A row's handler, described.
#[derive(Debug)]
pub struct Operation<'a> {
    /// The schemas of all operations.
    pub schemas: &'a mut Schemas,
    /// Names of the path's parameters, in path order.
    pub path: Vec<&'static str>,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
    /// The bodies that it takes: one, or one for each media type.
    pub bodies: Vec<Content>,
    /// Whether there must be a body.
    pub needs_body: bool,
    /// Its answers.
    pub answers: Vec<Success>,
    /// Whether a merchant's or an app's read is answered 304 too, as what anybody may read always is.
    pub is_tagged: bool,
    /// The problems that its arguments reject with.
    pub codes: Vec<Code>,
    /// Whether its rejections are those of RFC 6749 §5.2.
    pub oauth: bool,
}

impl<'a> Operation<'a> {
    /// Nothing is known of the handler of this path yet.
    pub fn new(schemas: &'a mut Schemas, path: &'static str) -> Self {
        let names = path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
        Self {
            schemas,
            path: names.collect(),
            parameters: Vec::new(),
            bodies: Vec::new(),
            needs_body: false,
            answers: Vec::new(),
            is_tagged: false,
            codes: Vec::new(),
            oauth: false,
        }
    }

    /// It rejects with these.
    pub fn rejects(&mut self, codes: &[Code]) {
        self.codes.extend_from_slice(codes);
    }

    /// It rejects as the OAuth endpoints do.
    pub(crate) fn rejects_as(&mut self, oauth: bool) {
        self.oauth = oauth;
    }

    /// It takes a parameter.
    pub fn takes<T: JsonSchema>(
        &mut self,
        location: ParameterLocation,
        name: &str,
        required: bool,
    ) {
        let schema = self.schemas.requests.subschema_for::<T>();
        self.takes_as(location, name, required, schema);
    }

    /// It takes a parameter that looks like this.
    pub fn takes_as(
        &mut self,
        location: ParameterLocation,
        name: &str,
        required: bool,
        schema: Schema,
    ) {
        let name = name.to_owned();
        self.parameters.push(Parameter { location, name, required, schema, description: None });
    }

    /// It takes a parameter at this index of its path.
    pub fn takes_in_path<T: JsonSchema>(&mut self, index: usize) {
        let Some(name) = self.path.get(index).copied() else { return };
        self.takes::<T>(ParameterLocation::Path, name, true);
        self.rejects(&[Code::NotFound]);
    }

    /// The members of `T` are parameters of its query.
    pub fn takes_query<T: JsonSchema>(&mut self) {
        let schema = T::json_schema(&mut self.schemas.requests);
        let names = |member: &str| schema.get(member).cloned().unwrap_or_default();
        let required = names("required");
        let is_required = |name: &str| {
            required.as_array().is_some_and(|all| all.iter().any(|known| known == name))
        };
        let properties = names("properties");
        for (name, schema) in properties.as_object().into_iter().flatten() {
            let Ok(schema) = Schema::try_from(schema.clone()) else { continue };
            let described = schema.get("description").and_then(|text| text.as_str());
            self.parameters.push(Parameter {
                location: ParameterLocation::Query,
                name: name.clone(),
                required: is_required(name),
                description: described.map(str::to_owned),
                schema,
            });
        }
    }

    /// Whether it takes a parameter of its query that is called so.
    pub fn takes_from_query(&self, name: &str) -> bool {
        let is_it =
            |known: &Parameter| known.location == ParameterLocation::Query && known.name == name;
        self.parameters.iter().any(is_it)
    }

    /// It takes a body of this type.
    pub fn takes_body<T: JsonSchema>(&mut self, media_type: &'static str) {
        let schema = self.schemas.requests.subschema_for::<T>();
        let whole = T::json_schema(&mut self.schemas.requests);
        let required = whole.get("required").and_then(|names| names.as_array());
        self.needs_body = required.is_some_and(|names| !names.is_empty());
        self.bodies.push(Content { media_type, schema });
    }

    /// It takes a JSON body with the members of `T` and those of `E`.
    pub fn takes_body_with<T: JsonSchema, E: JsonSchema>(&mut self) {
        let mut schema = T::json_schema(&mut self.schemas.requests);
        let extras = E::json_schema(&mut self.schemas.requests);
        merge(&mut schema, &extras);
        let required = schema.get("required").and_then(|names| names.as_array());
        self.needs_body = required.is_some_and(|names| !names.is_empty());
        self.bodies.push(Content { media_type: "application/json", schema });
    }

    /// It takes a body that no schema describes.
    pub fn takes_bytes(&mut self, media_type: &'static str) {
        self.needs_body = true;
        self.bodies.push(Content { media_type, schema: json_schema!({"type": "string"}) });
    }

    /// It answers so, with a JSON body.
    pub fn answers<T: JsonSchema>(&mut self, status: u16) {
        self.answers_as::<T>(status, "application/json");
    }

    /// It answers so, with a body of this media type, which is a kind of JSON.
    pub(crate) fn answers_as<T: JsonSchema>(&mut self, status: u16, media_type: &'static str) {
        let schema = self.schemas.answers.subschema_for::<T>();
        self.success(status, Some(Content { media_type, schema }));
    }

    /// It answers so, without a body.
    pub(crate) fn answers_nothing(&mut self, status: u16) {
        self.success(status, None);
    }

    /// It answers so, with whatever was stored.
    pub(crate) fn answers_bytes(&mut self, status: u16) {
        let schema = json_schema!({});
        self.success(status, Some(Content { media_type: "*/*", schema }));
    }

    /// It answers so, with a text of this media type.
    pub(crate) fn answers_text(&mut self, status: u16, media_type: &'static str) {
        let schema = json_schema!({"type": "string"});
        self.success(status, Some(Content { media_type, schema }));
    }

    /// It answers with a page of a list of `T`, with the members of `E` beside it.
    pub(crate) fn answers_page<T: JsonSchema, E: JsonSchema>(&mut self) {
        let (item, page) = (
            self.schemas.answers.subschema_for::<T>(),
            self.schemas.answers.subschema_for::<PageInfo>(),
        );
        let mut schema = json_schema!({
            "type": "object",
            "properties": {"data": {"type": "array", "items": item}, "page": page},
            "required": ["data", "page"],
        });
        let extras = E::json_schema(&mut self.schemas.answers);
        merge(&mut schema, &extras);
        self.success(200, Some(Content { media_type: "application/json", schema }));
        if let Some(last) = self.answers.last_mut() {
            last.is_page = true;
        }
    }

    /// What was said of answers so far is kept by nobody.
    pub(crate) fn stores_nothing(&mut self) {
        for answer in &mut self.answers {
            answer.no_store = true;
        }
    }

    fn success(&mut self, status: u16, content: Option<Content>) {
        self.answers.push(Success { status, content, is_page: false, no_store: false });
    }
}

/// Where a page of a list ends.
#[derive(Debug, JsonSchema)]
#[allow(dead_code, reason = "only its schema is used")]
struct PageInfo {
    /// How many items were asked for.
    #[schemars(range(min = 1, max = 100))]
    limit: u32,
    /// Whether the list goes on.
    has_more: bool,
    /// What to send as `cursor` to get the next page.
    next_cursor: Option<String>,
}

/// Adds the properties of `extras` to those of `schema`.
fn merge(schema: &mut Schema, extras: &Schema) {
    for member in ["properties", "required"] {
        let Some(more) = extras.get(member).cloned() else { continue };
        match schema.get_mut(member) {
            Some(serde_json::Value::Object(known)) => {
                known.extend(more.as_object().cloned().into_iter().flatten());
            }
            Some(serde_json::Value::Array(known)) => {
                known.extend(more.as_array().cloned().into_iter().flatten());
            }
            None => {
                schema.insert(member.to_owned(), more);
            }
            _ => {}
        }
    }
}
