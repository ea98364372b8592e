//! The evidence of a merchant against a dispute, in the fields that its provider accepts.
//!
//! Stripe accepts texts and ids of its files
//! (<https://docs.stripe.com/api/disputes/update#update_dispute-evidence>), Razorpay an amount, a
//! summary and ids of its documents (<https://razorpay.com/docs/api/disputes/contest>). Files are
//! uploaded at the provider.

use core_types::id::{DisputeEvidenceId, DisputeId, StoreId};
use core_types::key;
use core_types::money::Money;
use core_types::provider::ProviderName;
use crypto::seal::SealKey;
use primitives::clock::Timestamp;
use primitives::problem::{Code, FieldError, Problem};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use table::item::Item;

use super::{Dispute, DisputeStatus, EvidenceStatus, ObservedDispute, SentEvidence};

/// The most bytes of evidence as JSON: an item holds 400 KB, and sealing adds a third.
const MAX_BYTES: usize = 200 * 1024;
/// The most characters of all of Stripe's fields together.
const MAX_STRIPE: usize = 150_000;
/// The most characters of Razorpay's summary.
const MAX_SUMMARY: usize = 1_000;
/// The most characters of a type or an id.
const MAX_TOKEN: usize = 128;
/// The most documents in one field, and entries of `others` (our choice).
const MAX_DOCUMENTS: usize = 50;

/// Stripe's fields.
const STRIPE: &[&str] = &[
    "access_activity_log",
    "billing_address",
    "cancellation_policy",
    "cancellation_policy_disclosure",
    "cancellation_rebuttal",
    "customer_communication",
    "customer_email_address",
    "customer_name",
    "customer_purchase_ip",
    "customer_signature",
    "duplicate_charge_documentation",
    "duplicate_charge_explanation",
    "duplicate_charge_id",
    "product_description",
    "receipt",
    "refund_policy",
    "refund_policy_disclosure",
    "refund_refusal_explanation",
    "service_date",
    "service_documentation",
    "shipping_address",
    "shipping_carrier",
    "shipping_date",
    "shipping_documentation",
    "shipping_tracking_number",
    "uncategorized_file",
    "uncategorized_text",
];

/// Razorpay's fields with ids of documents. The others are `amount`, `summary` and `others`.
const RAZORPAY_DOCUMENTS: &[&str] = &[
    "shipping_proof",
    "billing_proof",
    "cancellation_proof",
    "customer_communication",
    "proof_of_service",
    "explanation_letter",
    "refund_confirmation",
    "access_activity_log",
    "refund_cancellation_policy",
    "term_and_conditions",
];

/// Evidence to send to the provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    /// The id, which is the idempotency key at the provider.
    pub id: DisputeEvidenceId,
    /// Whether it is submitted to the bank; otherwise it is a draft.
    pub submit: bool,
    /// The provider's fields.
    pub fields: Map<String, Value>,
}

/// Evidence that is being sent: stored until the provider has responded, so that it can be sent again.
#[derive(Debug, Clone, Serialize, Deserialize, Item)]
#[item(kind = "dispute_evidence", key = key::dispute_evidence(&self.store_id, &self.dispute_id))]
pub struct PendingEvidence {
    /// The store.
    pub store_id: StoreId,
    /// The dispute.
    pub dispute_id: DisputeId,
    /// The id of the evidence.
    pub id: DisputeEvidenceId,
    /// Whether it is submitted to the bank; otherwise it is a draft.
    pub submit: bool,
    /// The provider's fields, sealed because they have data of the customer.
    pub sealed_fields: String,
    /// When it was sent.
    pub created_at: Timestamp,
    /// Starts at 1, and grows by 1 with each write.
    pub version: u64,
}

impl PendingEvidence {
    /// Seals evidence of this dispute.
    pub fn seal(dispute: &Dispute, evidence: &Evidence, key: &SealKey, now: Timestamp) -> Self {
        let fields = serde_json::to_vec(&evidence.fields).unwrap_or_default();
        Self {
            store_id: dispute.store_id.clone(),
            dispute_id: dispute.id.clone(),
            id: evidence.id.clone(),
            submit: evidence.submit,
            sealed_fields: key.seal(&fields, evidence.id.as_str().as_bytes()),
            created_at: now,
            version: 1,
        }
    }

    /// Opens the sealed fields.
    ///
    /// # Errors
    /// 500: it does not open.
    pub fn open(&self, key: &SealKey) -> Result<Evidence, Problem> {
        let opened = key.open(&self.sealed_fields, self.id.as_str().as_bytes()).ok();
        let fields = opened.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let fields = fields
            .ok_or_else(|| Problem::internal("evidence of a dispute could not be unsealed"))?;
        Ok(Evidence { id: self.id.clone(), submit: self.submit, fields })
    }
}

impl Dispute {
    /// Ensures that evidence can be sent now.
    ///
    /// # Errors
    /// `invalid_state_transition`, `evidence_pending`, `evidence_past_due`.
    pub fn ensure_response(&self, now: Timestamp) -> Result<(), Problem> {
        if self.status != DisputeStatus::NeedsResponse {
            return Err(Problem::state(self.status.as_str(), &self.allowed_actions()));
        }
        if let Some(pending) = self.pending_evidence() {
            return Err(Code::EvidencePending.with("evidence_id", pending.id.as_str()));
        }
        match self.due_by.filter(|due| *due <= now) {
            Some(due) => Err(Code::EvidencePastDue.with("due_by", due.to_string())),
            None => Ok(()),
        }
    }

    /// Adds evidence that is being sent.
    #[must_use]
    pub fn with_evidence(&self, evidence: &Evidence, now: Timestamp) -> Self {
        let sent = SentEvidence {
            id: evidence.id.clone(),
            status: EvidenceStatus::Pending,
            submit: evidence.submit,
            fields: evidence.fields.keys().cloned().collect(),
            failure_code: None,
            created_at: now,
            answered_at: None,
        };
        let version = self.version.saturating_add(1);
        Self { evidence: Some(sent), updated_at: now, version, ..self.clone() }
    }

    /// Records the provider's response to this evidence: success or a rejection. Returns `None` if it is not
    /// pending.
    #[must_use]
    pub fn answered(
        &self,
        id: &DisputeEvidenceId,
        rejection: Option<&str>,
        now: Timestamp,
    ) -> Option<Self> {
        let sent = self.pending_evidence().filter(|sent| sent.id == *id)?;
        let status = match (rejection, sent.submit) {
            (Some(_), _) => EvidenceStatus::Failed,
            (None, true) => EvidenceStatus::Submitted,
            (None, false) => EvidenceStatus::Staged,
        };
        let failure_code = rejection.map(str::to_owned);
        let answered_at = Some(now);
        let sent = SentEvidence { status, failure_code, answered_at, ..sent.clone() };
        let version = self.version.saturating_add(1);
        Some(Self { evidence: Some(sent), updated_at: now, version, ..self.clone() })
    }
}

impl ObservedDispute {
    /// Whether the bank has evidence already, or accepts none any more. Evidence whose response was lost has
    /// then arrived, or never will.
    pub fn is_past_evidence(&self) -> bool {
        self.is_submitted || self.status != DisputeStatus::NeedsResponse
    }
}

/// Validates the provider's fields and returns them.
///
/// # Errors
/// All field errors of `/evidence`.
pub fn parse(
    provider: ProviderName,
    given: &Value,
    disputed: &Money,
    submit: bool,
) -> Result<Map<String, Value>, Problem> {
    let Some(fields) = given.as_object() else {
        return Err(Problem::field("/evidence", "invalid_type", "Must be an object."));
    };
    let mut errors = FieldErrors::default();
    if fields.is_empty() {
        errors.add("", "too_few", "Must have at least one field.");
    }
    match provider {
        ProviderName::Stripe => errors.check_stripe(fields),
        ProviderName::Razorpay => errors.check_razorpay(fields, disputed, submit),
        ProviderName::Manual => {
            errors.add("", "not_supported", "Manual payments cannot be disputed.");
        }
    }
    if serde_json::to_vec(fields).map_or(0, |bytes| bytes.len()) > MAX_BYTES {
        errors.add("", "too_long", "Must be at most 200 KiB in total.");
    }
    if errors.0.is_empty() { Ok(fields.clone()) } else { Err(Problem::invalid(errors.0)) }
}

#[derive(Default)]
struct FieldErrors(Vec<FieldError>);

impl FieldErrors {
    fn add(&mut self, place: &str, code: &'static str, detail: &'static str) {
        self.0.push(FieldError::new(format!("/evidence{place}"), code, detail));
    }

    fn check_stripe(&mut self, fields: &Map<String, Value>) {
        let mut characters: usize = 0;
        for (name, value) in fields {
            let place = format!("/{}", primitives::fields::escaped(name));
            match value.as_str() {
                _ if !STRIPE.contains(&name.as_str()) => {
                    self.add(&place, "unknown_field", "Stripe's evidence has no such field.");
                }
                None => self.add(
                    &place,
                    "invalid_type",
                    "Must be a string: a text, or the id of a file.",
                ),
                Some(text) => characters = characters.saturating_add(text.chars().count()),
            }
        }
        if characters > MAX_STRIPE {
            self.add("", "too_long", "Must be at most 150,000 characters in total.");
        }
    }

    fn check_razorpay(&mut self, fields: &Map<String, Value>, disputed: &Money, submit: bool) {
        let mut has_document = false;
        for (name, value) in fields {
            let place = format!("/{}", primitives::fields::escaped(name));
            match name.as_str() {
                "amount" => {
                    let amount = value.as_i64();
                    if !amount.is_some_and(|amount| (1..=disputed.amount).contains(&amount)) {
                        let detail = "Must be from 1 to the disputed amount, in minor units.";
                        self.add(&place, "out_of_range", detail);
                    }
                }
                "summary" => match value.as_str().map(|text| text.chars().count()) {
                    None => self.add(&place, "invalid_type", "Must be a string."),
                    Some(1..=MAX_SUMMARY) => {}
                    Some(_) => self.add(&place, "too_long", "Must be 1 to 1,000 characters."),
                },
                "others" => has_document |= self.additional_evidence(&place, value),
                name if RAZORPAY_DOCUMENTS.contains(&name) => {
                    has_document |= self.documents(&place, value);
                }
                _ => self.add(&place, "unknown_field", "Razorpay's evidence has no such field."),
            }
        }
        if submit && !has_document && self.0.is_empty() {
            self.add("", "too_few", "Must have at least one document to be submitted.");
        }
    }

    /// Validates `[{"type", "document_ids"}]`, and returns whether it has a document.
    fn additional_evidence(&mut self, place: &str, value: &Value) -> bool {
        let entries = value.as_array().filter(|all| (1..=MAX_DOCUMENTS).contains(&all.len()));
        let Some(entries) = entries else {
            self.add(place, "invalid_type", "Must be an array of 1 to 50 objects.");
            return false;
        };
        let mut has_document = false;
        for (index, entry) in entries.iter().enumerate() {
            let place = format!("{place}/{index}");
            let is_known = |name: &String| ["type", "document_ids"].contains(&name.as_str());
            if !entry.as_object().is_some_and(|fields| fields.keys().all(is_known)) {
                self.add(&place, "invalid_type", "Must be an object of `type` and `document_ids`.");
                continue;
            }
            if !entry.get("type").is_some_and(is_token) {
                self.add(
                    &format!("{place}/type"),
                    "invalid_type",
                    "Must be 1 to 128 visible ASCII characters.",
                );
            }
            let documents = entry.get("document_ids").unwrap_or(&Value::Null);
            has_document |= self.documents(&format!("{place}/document_ids"), documents);
        }
        has_document
    }

    /// Validates a list of document ids, and returns whether it is valid.
    fn documents(&mut self, place: &str, value: &Value) -> bool {
        let ids = value.as_array().filter(|all| (1..=MAX_DOCUMENTS).contains(&all.len()));
        let are_ids = ids.is_some_and(|ids| ids.iter().all(is_token));
        if !are_ids {
            self.add(place, "invalid_type", "Must be an array of 1 to 50 document ids.");
        }
        are_ids
    }
}

/// Whether it is a short text without blanks, like an id or a type.
fn is_token(value: &Value) -> bool {
    let text = value.as_str().unwrap_or_default();
    (1..=MAX_TOKEN).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
}
