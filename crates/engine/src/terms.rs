//! What commands say besides what they do: what they may see, what their acknowledgement waits for, where they go, and their session.

use brimline_bson::Writer;
use brimline_wire::session::SessionPlace;
use brimline_wire::template::TemplateBuilder;

use crate::plan::Plan;
use crate::plan::target::{Acknowledgement, Reads, TargetPlan, WriteConcern};

/// How long a majority may take to confirm a commit that is sent again, in ms.
const AGAIN_TIMEOUT_MS: u32 = 10_000;

/// What a command says besides what it does.
#[derive(Clone, Copy, Default)]
pub struct Terms<'p> {
    pub preference: Option<&'p Reads>,
    pub read_concern: Option<&'p str>,
    pub write_concern: Option<&'p WriteConcern>,
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
    /// As what begins a transaction.
    Begins,
    /// As what a transaction goes on with or ends with.
    Continues,
}

impl Membership {
    pub fn append(self, builder: &mut TemplateBuilder) -> Option<SessionPlace> {
        let place = match self {
            Self::Nothing => return None,
            Self::Id => SessionPlace::append_id(builder),
            Self::Numbered | Self::Begins | Self::Continues => SessionPlace::append(builder),
        };
        builder.fixed(|writer| {
            if matches!(self, Self::Begins) {
                writer.boolean("startTransaction", true);
            }
            if matches!(self, Self::Begins | Self::Continues) {
                writer.boolean("autocommit", false);
            }
        });
        Some(place)
    }

    /// That of the further batches of a command's cursor.
    pub fn of_cursor(self) -> Self {
        match self {
            Self::Nothing => Self::Nothing,
            Self::Id | Self::Numbered => Self::Id,
            Self::Begins | Self::Continues => Self::Continues,
        }
    }
}

/// What the plan's reads and its writes say.
pub fn terms(plan: &Plan) -> (Terms<'_>, Terms<'_>) {
    match &plan.target {
        TargetPlan::Wire { reads, read_concern, write_concern, retry_writes, sessions, .. } => {
            let session = if *sessions { Membership::Id } else { Membership::Nothing };
            let of_writes = if *retry_writes { Membership::Numbered } else { session };
            (
                Terms {
                    preference: reads.as_ref(),
                    read_concern: read_concern.as_deref(),
                    session,
                    ..Terms::default()
                },
                Terms { write_concern: write_concern.as_ref(), session: of_writes, ..Terms::default() },
            )
        }
        TargetPlan::Linked(_)
        | TargetPlan::Runner(_)
        | TargetPlan::Null { .. }
        | TargetPlan::Simulated { .. } => (Terms::default(), Terms::default()),
    }
}

impl Terms<'_> {
    /// Appends all but the session.
    pub fn append(&self, builder: &mut TemplateBuilder) {
        if let Some(level) = self.read_concern {
            builder.begin_subdocument("readConcern");
            builder.fixed(|writer| writer.string("level", level));
            builder.end();
        }
        if let Some(reads) = self.preference {
            builder.begin_subdocument("$readPreference");
            builder.fixed(|writer| write_preference(writer, reads));
            builder.end();
        }
        append_write_concern(builder, self.write_concern);
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

fn append_write_concern(builder: &mut TemplateBuilder, write_concern: Option<&WriteConcern>) {
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

/// The concern of a commit that is sent again.
pub fn by_majority(concern: Option<&WriteConcern>) -> WriteConcern {
    WriteConcern {
        w: Acknowledgement::Tag("majority".to_owned()),
        journal: concern.and_then(|concern| concern.journal),
        timeout_ms: concern.and_then(|concern| concern.timeout_ms).or(Some(AGAIN_TIMEOUT_MS)),
    }
}
