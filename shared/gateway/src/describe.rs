//! Descriptions of operations, derived from handler types: parameters, bodies, answers, and the problems of
//! arguments. The OpenAPI document is built from them; no deployed binary contains them.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use primitives::fields::PathDescription;
use primitives::problem::Code;

/// The location of a parameter.
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
    /// The location.
    pub location: ParameterLocation,
    /// The name.
    pub name: String,
    /// Whether it is required.
    pub required: bool,
    /// The schema.
    pub schema: Schema,
    /// The description, where the schema has none.
    pub description: Option<String>,
}

impl PathDescription for Operation<'_> {
    fn add<T: JsonSchema>(&mut self, index: usize) {
        self.takes_in_path::<T>(index);
    }
}

/// A body of a request or an answer.
#[derive(Debug, Clone)]
pub struct Content {
    /// Its media type.
    pub media_type: &'static str,
    /// The schema.
    pub schema: Schema,
}

/// A successful answer.
#[derive(Debug, Clone)]
pub struct Success {
    /// Its status.
    pub status: u16,
    /// Its body, if it has one.
    pub content: Option<Content>,
    /// Whether it is a page of a list, which may have a `Link` to the next page.
    pub is_page: bool,
    /// Whether it has `Cache-Control: no-store`.
    pub no_store: bool,
}

/// The temporary location of request schemas, until they are merged with those of answers.
pub const REQUESTS: &str = "/components/requests";
/// The location of answer schemas.
pub const ANSWERS: &str = "/components/schemas";

/// The schemas of named types, separately for requests and answers: a member that is optional in a request is
/// always present in an answer.
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

/// The description of a row's handler.
#[derive(Debug)]
pub struct Operation<'a> {
    /// The schemas of all operations.
    pub schemas: &'a mut Schemas,
    /// Names of the path's parameters, in path order.
    pub path: Vec<&'static str>,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
    /// The request bodies: one for each media type.
    pub bodies: Vec<Content>,
    /// Whether a body is required.
    pub needs_body: bool,
    /// Its answers.
    pub answers: Vec<Success>,
    /// Whether merchants' and apps' reads are answered 304 too; public reads always are.
    pub is_tagged: bool,
    /// The problems of its arguments.
    pub codes: Vec<Code>,
    /// Whether its errors are those of RFC 6749 §5.2.
    pub oauth: bool,
}

impl<'a> Operation<'a> {
    /// An empty description of the operation at this path.
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

    /// Adds problems.
    pub fn rejects(&mut self, codes: &[Code]) {
        self.codes.extend_from_slice(codes);
    }

    /// Sets whether it rejects as the OAuth endpoints do.
    pub(crate) fn rejects_as(&mut self, oauth: bool) {
        self.oauth = oauth;
    }

    /// Adds a parameter of type `T`.
    pub fn takes<T: JsonSchema>(
        &mut self,
        location: ParameterLocation,
        name: &str,
        required: bool,
    ) {
        let schema = self.schemas.requests.subschema_for::<T>();
        self.takes_as(location, name, required, schema);
    }

    /// Adds a parameter with this schema.
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

    /// Adds the parameter at this index of the path.
    pub fn takes_in_path<T: JsonSchema>(&mut self, index: usize) {
        let Some(name) = self.path.get(index).copied() else { return };
        self.takes::<T>(ParameterLocation::Path, name, true);
        self.rejects(&[Code::NotFound]);
    }

    /// Adds the members of `T` as query parameters.
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

    /// Whether it has a query parameter of this name.
    pub fn has_query_parameter(&self, name: &str) -> bool {
        let is_it =
            |known: &Parameter| known.location == ParameterLocation::Query && known.name == name;
        self.parameters.iter().any(is_it)
    }

    /// Adds a request body of this type.
    pub fn takes_body<T: JsonSchema>(&mut self, media_type: &'static str) {
        let schema = self.schemas.requests.subschema_for::<T>();
        let whole = T::json_schema(&mut self.schemas.requests);
        let required = whole.get("required").and_then(|names| names.as_array());
        self.needs_body = required.is_some_and(|names| !names.is_empty());
        self.bodies.push(Content { media_type, schema });
    }

    /// Adds a JSON request body with the members of `T` and those of `E`.
    pub fn takes_body_with<T: JsonSchema, E: JsonSchema>(&mut self) {
        let mut schema = T::json_schema(&mut self.schemas.requests);
        let extras = E::json_schema(&mut self.schemas.requests);
        merge(&mut schema, &extras);
        let required = schema.get("required").and_then(|names| names.as_array());
        self.needs_body = required.is_some_and(|names| !names.is_empty());
        self.bodies.push(Content { media_type: "application/json", schema });
    }

    /// Adds a request body without a schema.
    pub fn takes_bytes(&mut self, media_type: &'static str) {
        self.needs_body = true;
        self.bodies.push(Content { media_type, schema: json_schema!({"type": "string"}) });
    }

    /// Adds an answer with a JSON body.
    pub fn answers<T: JsonSchema>(&mut self, status: u16) {
        self.answers_as::<T>(status, "application/json");
    }

    /// Adds an answer with a body of this JSON media type.
    pub(crate) fn answers_as<T: JsonSchema>(&mut self, status: u16, media_type: &'static str) {
        let schema = self.schemas.answers.subschema_for::<T>();
        self.success(status, Some(Content { media_type, schema }));
    }

    /// Adds an answer without a body.
    pub(crate) fn answers_nothing(&mut self, status: u16) {
        self.success(status, None);
    }

    /// Adds an answer whose body has the stored media type.
    pub(crate) fn answers_bytes(&mut self, status: u16) {
        let schema = json_schema!({});
        self.success(status, Some(Content { media_type: "*/*", schema }));
    }

    /// Adds an answer with text of this media type.
    pub(crate) fn answers_text(&mut self, status: u16, media_type: &'static str) {
        let schema = json_schema!({"type": "string"});
        self.success(status, Some(Content { media_type, schema }));
    }

    /// Adds an answer with a page of a list of `T`, and the members of `E` next to `data` and `page`.
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

    /// Adds that a part of the body can be requested.
    pub(crate) fn answers_parts(&mut self) {
        self.answers_bytes(206);
        self.rejects(&[Code::RangeNotSatisfiable]);
        let schema = json_schema!({"type": "string"});
        self.takes_as(ParameterLocation::Header, "Range", false, schema);
        if let Some(range) = self.parameters.last_mut() {
            range.description = Some("One range of bytes, such as `bytes=0-1023`.".to_owned());
        }
    }

    /// Marks all answers so far as `no-store`.
    pub(crate) fn stores_nothing(&mut self) {
        for answer in &mut self.answers {
            answer.no_store = true;
        }
    }

    fn success(&mut self, status: u16, content: Option<Content>) {
        self.answers.push(Success { status, content, is_page: false, no_store: false });
    }
}

/// The position of a page in its list.
#[derive(Debug, JsonSchema)]
#[allow(dead_code, reason = "only its schema is used")]
struct PageInfo {
    /// The page size of the request.
    #[schemars(range(min = 1, max = 100))]
    limit: u32,
    /// Whether there is a next page.
    has_more: bool,
    /// The `cursor` of the next page.
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
