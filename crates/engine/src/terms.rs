//! What commands say besides what they do: what they may see, what their acknowledgement waits for, where they go, and their session.

use brimline_bson::Writer;
use brimline_wire::session::SessionPlace;
use brimline_wire::template::{Template, TemplateBuilder};

use crate::plan::Plan;
use crate::plan::target::{Acknowledgement, Reads, TargetPlan, WriteConcern};

/// How long a majority may take to confirm a commit that is sent again, in ms.
const AGAIN_TIMEOUT_MS: u32 = 10_000;

/// A cursor's id: an int64.
pub const CURSOR_BYTES: usize = 8;

/// What reads say about where they go and what they may see.
#[derive(Clone, Copy, Default)]
pub struct ReadTerms<'p> {
    pub reads: Option<&'p Reads>,
    pub concern: Option<&'p str>,
    pub session: Membership,
}

/// What of its connection's session a command carries.
#[derive(Clone, Copy, Default)]
pub enum Membership {
    #[default]
    Nothing,
    /// As every command of an official driver.
    Id,
    /// And a number, for a write that may be sent again.
    Numbered,
}

impl Membership {
    pub fn append(self, builder: &mut TemplateBuilder) -> Option<SessionPlace> {
        match self {
            Self::Nothing => None,
            Self::Id => Some(SessionPlace::append_id(builder)),
            Self::Numbered => Some(SessionPlace::append(builder)),
        }
    }
}

/// What writes say about themselves.
#[derive(Clone, Copy, Default)]
pub struct WriteTerms<'p> {
    pub concern: Option<&'p WriteConcern>,
    pub session: Membership,
}

/// What the plan's reads and writes say of themselves.
pub fn terms(plan: &Plan) -> (ReadTerms<'_>, WriteTerms<'_>) {
    match &plan.target {
        TargetPlan::Wire { reads, read_concern, write_concern, retry_writes, sessions, .. } => {
            let session = if *sessions { Membership::Id } else { Membership::Nothing };
            let terms = ReadTerms { reads: reads.as_ref(), concern: read_concern.as_deref(), session };
            let session = if *retry_writes { Membership::Numbered } else { session };
            (terms, WriteTerms { concern: write_concern.as_ref(), session })
        }
        TargetPlan::Linked(_)
        | TargetPlan::Runner(_)
        | TargetPlan::Null { .. }
        | TargetPlan::Simulated { .. } => (ReadTerms::default(), WriteTerms::default()),
    }
}

pub fn append_read_terms(builder: &mut TemplateBuilder, terms: ReadTerms<'_>) {
    if let Some(level) = terms.concern {
        builder.begin_subdocument("readConcern");
        builder.fixed(|writer| writer.string("level", level));
        builder.end();
    }
    if let Some(reads) = terms.reads {
        builder.begin_subdocument("$readPreference");
        builder.fixed(|writer| write_preference(writer, reads));
        builder.end();
    }
}

fn write_preference(writer: &mut Writer<'_>, reads: &Reads) {
    writer.string("mode", &reads.mode);
    if !reads.tag_sets.is_empty() {
        let sets = writer.begin_array("tags");
        for (index, tags) in reads.tag_sets.iter().enumerate() {
            let set = writer.begin_subdocument(&index.to_string());
            for (name, value) in tags {
                writer.string(name, value);
            }
            writer.end_document(set);
        }
        writer.end_document(sets);
    }
    if let Some(seconds) = reads.max_staleness_s {
        writer.int32("maxStalenessSeconds", seconds as i32);
    }
}

pub fn append_write_concern(builder: &mut TemplateBuilder, write_concern: Option<&WriteConcern>) {
    let Some(WriteConcern { w, journal, timeout_ms }) = write_concern else {
        return;
    };
    builder.begin_subdocument("writeConcern");
    builder.fixed(|writer| {
        match w {
            Acknowledgement::Members(members) => writer.int32("w", *members as i32),
            Acknowledgement::Tag(tag) => writer.string("w", tag),
        }
        if let Some(journal) = journal {
            writer.boolean("j", *journal);
        }
        if let Some(timeout_ms) = timeout_ms {
            writer.int32("wtimeout", *timeout_ms as i32);
        }
    });
    builder.end();
}

pub fn finish(mut builder: TemplateBuilder, database: &str) -> Template {
    builder.fixed(|writer| writer.string("$db", database));
    builder.finish(0)
}

/// What a command of a transaction says of it.
pub fn append_membership(builder: &mut TemplateBuilder, begins: bool) -> SessionPlace {
    let session = SessionPlace::append(builder);
    builder.fixed(|writer| {
        if begins {
            writer.boolean("startTransaction", true);
        }
        writer.boolean("autocommit", false);
    });
    session
}

/// The concern of a commit that is sent again.
pub fn by_majority(concern: Option<&WriteConcern>) -> WriteConcern {
    WriteConcern {
        w: Acknowledgement::Tag("majority".to_owned()),
        journal: concern.and_then(|concern| concern.journal),
        timeout_ms: concern.and_then(|concern| concern.timeout_ms).or(Some(AGAIN_TIMEOUT_MS)),
    }
}
