//! Categories of imported products: found in the store's tree by their names, and created where it lacks them.

use catalogue::category::{self, CategoryInput, Tree};
use core_types::id::CategoryId;
use primitives::fields::{FromText, Text};
use primitives::problem::{Code, FieldError, Problem};

use super::work::Work;
use crate::import::records::Record;

/// The member of the body that has the category.
const AT: &str = "/category_id";

/// The records with the ids of their categories. A category that cannot be created is a warning, and the
/// product is in the one above it.
///
/// # Errors
/// 503.
pub(super) async fn assigned(
    work: &Work<'_>,
    mut records: Vec<Record>,
) -> Result<Vec<Record>, Problem> {
    let has_category = |record: &Record| !record.category.is_empty() && !record.is_rejected();
    if !records.iter().any(has_category) {
        return Ok(records);
    }
    let mut tree = Tree::load(work.services, &work.store.id).await?;
    for record in records.iter_mut().filter(|record| has_category(record)) {
        let path = std::mem::take(&mut record.category);
        let (found, error) = at_path(work, &mut tree, &path).await?;
        if let Some(id) = found {
            record.insert("category_id", id.as_str().into());
        }
        if let Some(error) = error {
            record.warn(&error);
        }
    }
    Ok(records)
}

/// The category at a path of names, which is created as far as the tree has room for it.
async fn at_path(
    work: &Work<'_>,
    tree: &mut Tree,
    path: &[String],
) -> Result<(Option<CategoryId>, Option<FieldError>), Problem> {
    loop {
        let (found, missing) = tree.along(path);
        let found = found.map(|category| category.id.clone());
        let Some(name) = missing.first() else { return Ok((found, None)) };
        let name = match Text::<1, 100>::from_text(name) {
            Ok(name) => String::from(name),
            Err(violation) => {
                return Ok((found, Some(left_out(violation.code, &violation.detail))));
            }
        };
        let input = CategoryInput { name, handle: None, parent_id: found.clone(), position: 0 };
        let added = if work.import.dry_run {
            tree.plan(&input, &work.store.id, work.services.clock.now())
        } else {
            category::ensure(work.services, work.store, &input).await
        };
        match added {
            Ok(category) => *tree = std::mem::take(tree).added(category),
            Err(problem) if problem.code == Code::CategoryLimit => {
                let error = left_out(Code::CategoryLimit.as_str(), problem.text());
                return Ok((found, Some(error)));
            }
            Err(problem) if problem.code == Code::ValidationFailed => {
                let violation = problem.errors().first().map(|error| &error.violation);
                let (code, detail) = violation
                    .map_or((problem.code.as_str(), problem.text()), |it| (it.code, &it.detail));
                return Ok((found, Some(left_out(code, detail))));
            }
            Err(problem) => return Err(problem),
        }
    }
}

fn left_out(code: &'static str, detail: &str) -> FieldError {
    FieldError::new(AT, code, format!("{detail} The category was left out."))
}
