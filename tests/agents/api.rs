//! The OpenAPI document that the node serves, and whether an answer is as it says.

use super::http::{self, Answer};
use serde_json::{Value, json};
use std::net::SocketAddr;

/// The document.
pub(crate) struct Api(pub Value);

/// One method of one path.
pub(crate) struct Operation<'a> {
    pub path: &'a str,
    pub method: String,
    pub says: &'a Value,
}

impl Api {
    pub(crate) fn of(node: SocketAddr) -> Api {
        let answer = http::get(node, "/v1/openapi.json");
        assert_eq!(answer.status, 200);
        Api(answer.json())
    }

    pub(crate) fn operations(&self) -> Vec<Operation<'_>> {
        let paths = self.0["paths"].as_object().expect("paths");
        let each = paths.iter().flat_map(|(path, methods)| {
            let methods = methods.as_object().expect("methods");
            methods.iter().map(move |(method, says)| Operation {
                path,
                method: method.to_ascii_uppercase(),
                says,
            })
        });
        each.collect()
    }

    pub(crate) fn operation(&self, name: &str) -> Operation<'_> {
        let mut all = self.operations().into_iter();
        all.find(|operation| operation.says["operationId"] == name).unwrap_or_else(|| panic!("no {name}"))
    }

    /// What a reference names, or the value itself.
    pub(crate) fn resolve<'a>(&'a self, value: &'a Value) -> &'a Value {
        match value["$ref"].as_str().and_then(|name| name.strip_prefix('#')) {
            Some(pointer) => self.0.pointer(pointer).unwrap_or_else(|| panic!("{pointer} is nowhere")),
            None => value,
        }
    }

    pub(crate) fn parameters<'a>(&'a self, operation: &Operation<'a>) -> Vec<&'a Value> {
        let list = operation.says["parameters"].as_array();
        list.into_iter().flatten().map(|one| self.resolve(one)).collect()
    }

    /// That an answer is one that the document describes.
    pub(crate) fn check(&self, operation: &Operation<'_>, answer: &Answer, asked: &str) {
        let status = answer.status.to_string();
        let text = String::from_utf8_lossy(&answer.body);
        let described = &operation.says["responses"][&status];
        assert!(!described.is_null(), "{asked}: {status} is not described: {text}");
        let media = answer.header("content-type").unwrap_or_default();
        let content = &self.resolve(described)["content"][media];
        assert!(!content.is_null(), "{asked}: {status} as {media:?} is not described: {text}");
        let schema = &content["schema"];
        let each: Vec<Value> = match media {
            "application/x-ndjson" => answer.lines(),
            "application/json" | "application/problem+json" => vec![answer.json()],
            _ => vec![Value::String(text.clone().into_owned())],
        };
        let validator = self.validator(schema);
        for body in each {
            let wrong: Vec<String> =
                validator.iter_errors(&body).map(|e| format!("{e} at {}", e.instance_path())).collect();
            assert!(wrong.is_empty(), "{asked}: {wrong:?} in {body}");
            if media == "application/problem+json" {
                assert_eq!(body["status"], answer.status, "{asked}");
            }
        }
    }

    fn validator(&self, schema: &Value) -> jsonschema::Validator {
        let whole = json!({ "allOf": [schema], "components": self.0["components"] });
        jsonschema::draft202012::new(&whole).expect("a schema")
    }
}
