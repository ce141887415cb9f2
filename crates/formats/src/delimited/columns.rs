//! Owns the columns of a table: their names, checked, and the shape of the document that they make.

use std::collections::HashMap;

use brimline_bson::ElementType;

use super::column_type::ColumnType;

/// Sub-documents in one another, as in JSON.
const LEVELS_MAX: usize = 200;

/// A column: which cell it takes and where its value goes.
#[derive(Clone, Debug)]
pub struct Column {
    /// Index of its cell in a row.
    pub cell: usize,
    /// Name as it was given, with its dots.
    pub name: String,
    /// Type byte, to be filled in, then the name in its document, then a NUL.
    pub key: Vec<u8>,
    /// What its cells hold.
    pub cell_type: ColumnType,
    /// Sub-documents and arrays that open in front of it, outermost first.
    pub opens: Vec<Group>,
    /// How many close behind it.
    pub closes: usize,
    /// Index in its array, if it is an element of one.
    pub array_index: Option<u32>,
    /// Whether it is, or lies in, the document's `_id`.
    pub is_id: bool,
}

/// A sub-document or array of the document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Type byte, name, NUL.
    pub key: Vec<u8>,
    /// Index in the array around it, if it is an element of one.
    pub array_index: Option<u32>,
}

/// The columns called `names`, in the order in which they stand in the document: columns of one sub-document are brought
/// together at the place of the first.
pub fn columns(names: Vec<(String, ColumnType)>, use_array_indexes: bool) -> Result<Vec<Column>, String> {
    for (name, _) in &names {
        check_name(name)?;
    }
    let mut root = Node::default();
    for (cell, (name, column_type)) in names.into_iter().enumerate() {
        let parts: Vec<String> = name.split('.').map(str::to_owned).collect();
        if parts.len() > LEVELS_MAX {
            let begin: String = name.chars().take(40).collect();
            return Err(format!("column \"{}…\" has more than {LEVELS_MAX} levels", begin.escape_debug()));
        }
        root.insert(&parts, Leaf { cell, name, column_type })?;
    }
    let mut columns = Vec::new();
    root.flatten(use_array_indexes, &mut columns)?;
    Ok(columns)
}

fn check_name(name: &str) -> Result<(), String> {
    let wrong = if name.starts_with('$') {
        "begins with \"$\""
    } else if name.starts_with('.') {
        "begins with a dot"
    } else if name.ends_with('.') {
        "ends with a dot"
    } else if name.contains("..") {
        "has two dots in a row"
    } else if name.contains('\0') {
        "holds a NUL byte, as where text is UTF-16; iconv converts it"
    } else {
        return Ok(());
    };
    Err(format!("column \"{}\" {wrong}", name.escape_debug()))
}

struct Leaf {
    cell: usize,
    name: String,
    column_type: ColumnType,
}

/// A document that is being laid out: its entries in the order in which they were first named.
#[derive(Default)]
struct Node {
    entries: Vec<(String, Entry)>,
    /// Where each name is in `entries`: a table may have a million columns.
    places: HashMap<String, usize>,
}

enum Entry {
    Leaf(Leaf),
    Group(Node),
}

impl Node {
    fn insert(&mut self, path: &[String], leaf: Leaf) -> Result<(), String> {
        let (first, rest) = path.split_first().expect("a split name has a part");
        let found = self.places.get(first).map(|&place| &mut self.entries[place]);
        match (found, rest) {
            (None, []) => self.push(first, Entry::Leaf(leaf)),
            (None, _) => {
                let mut group = Self::default();
                group.insert(rest, leaf)?;
                self.push(first, Entry::Group(group));
            }
            (Some((_, Entry::Leaf(other))), []) => {
                return Err(format!("column \"{}\" is there twice", other.name.escape_debug()));
            }
            (Some((_, Entry::Group(group))), [_, ..]) => group.insert(rest, leaf)?,
            (Some((_, Entry::Leaf(other))), _) => return Err(incompatible(&other.name, &leaf.name)),
            (Some((_, Entry::Group(group))), []) => {
                return Err(incompatible(&leaf.name, group.first_name()));
            }
        }
        Ok(())
    }

    fn push(&mut self, name: &str, entry: Entry) {
        self.places.insert(name.to_owned(), self.entries.len());
        self.entries.push((name.to_owned(), entry));
    }

    fn first_name(&self) -> &str {
        match &self.entries[0].1 {
            Entry::Leaf(leaf) => &leaf.name,
            Entry::Group(group) => group.first_name(),
        }
    }

    /// Appends its columns, itself being the whole document.
    fn flatten(self, use_array_indexes: bool, columns: &mut Vec<Column>) -> Result<(), String> {
        for (name, entry) in self.entries {
            let first = columns.len();
            entry.flatten(&name, None, use_array_indexes, columns)?;
            for column in &mut columns[first..] {
                column.is_id = name == "_id";
            }
        }
        Ok(())
    }

    /// Whether its entries are the elements of an array. Those of an array must be numbered from 0 on.
    fn is_array(&self) -> Result<bool, String> {
        let is_index = |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
        let first = self.entries.iter().find(|(name, _)| is_index(name));
        let Some((_, indexed)) = first else { return Ok(false) };
        for (index, (name, entry)) in self.entries.iter().enumerate() {
            if !is_index(name) {
                return Err(incompatible(indexed.first_name(), entry.first_name()));
            }
            if *name != index.to_string() {
                return Err(format!(
                    "column \"{}\": array indexes must start from 0 and increase one by one",
                    entry.first_name().escape_debug()
                ));
            }
        }
        Ok(true)
    }
}

impl Entry {
    fn first_name(&self) -> &str {
        match self {
            Self::Leaf(leaf) => &leaf.name,
            Self::Group(group) => group.first_name(),
        }
    }

    fn flatten(
        self,
        name: &str,
        array_index: Option<u32>,
        use_array_indexes: bool,
        columns: &mut Vec<Column>,
    ) -> Result<(), String> {
        let group = match self {
            Self::Leaf(Leaf { cell, name: full_name, column_type }) => {
                columns.push(Column {
                    cell,
                    name: full_name,
                    key: key(ElementType::Null, name),
                    cell_type: column_type,
                    opens: Vec::new(),
                    closes: 0,
                    array_index,
                    is_id: false,
                });
                return Ok(());
            }
            Self::Group(group) => group,
        };
        let is_array = use_array_indexes && group.is_array()?;
        let element_type = if is_array { ElementType::Array } else { ElementType::Document };
        let first = columns.len();
        for (index, (entry_name, entry)) in group.entries.into_iter().enumerate() {
            entry.flatten(&entry_name, is_array.then_some(index as u32), use_array_indexes, columns)?;
        }
        columns[first].opens.insert(0, Group { key: key(element_type, name), array_index });
        columns.last_mut().expect("a group has a column").closes += 1;
        Ok(())
    }
}

fn incompatible(one: &str, other: &str) -> String {
    format!("columns \"{}\" and \"{}\" can't be in one document", one.escape_debug(), other.escape_debug())
}

/// Type byte, name, NUL.
pub fn key(element_type: ElementType, name: &str) -> Vec<u8> {
    let mut key = vec![element_type as u8];
    key.extend_from_slice(name.as_bytes());
    key.push(0);
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(names: &[&str], use_array_indexes: bool) -> Result<Vec<(usize, usize, usize)>, String> {
        let names = names.iter().map(|name| ((*name).to_owned(), ColumnType::Auto)).collect();
        let columns = columns(names, use_array_indexes)?;
        Ok(columns.iter().map(|column| (column.cell, column.opens.len(), column.closes)).collect())
    }

    #[test]
    fn columns_of_one_sub_document_are_brought_together() {
        assert_eq!(order(&["_id", "v"], false), Ok(vec![(0, 0, 0), (1, 0, 0)]));
        assert_eq!(order(&["a.b", "z", "a.c"], false), Ok(vec![(0, 1, 0), (2, 0, 1), (1, 0, 0)]));
        assert_eq!(order(&["a.b.c"], false), Ok(vec![(0, 2, 2)]));
        assert_eq!(order(&["a.b", "a.c.d", "e"], false), Ok(vec![(0, 1, 0), (1, 1, 2), (2, 0, 0)]));
    }

    #[test]
    fn names_that_no_document_can_have_are_refused() {
        for bad in [
            ["a", "a"],
            ["a", "a.b"],
            ["a.b", "a"],
            ["$a", "b"],
            [".a", "b"],
            ["a.", "b"],
            ["a..b", "b"],
            ["a\0", "b"],
        ] {
            assert!(order(&bad, false).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_name_with_more_levels_than_a_document_may_have_is_refused() {
        let deep = |levels: usize| vec!["a"; levels].join(".");
        assert!(order(&[&deep(LEVELS_MAX)], false).is_ok());
        let error = order(&["b", &deep(100_000)], false).expect_err("too deep");
        assert!(error.contains("more than 200 levels") && error.len() < 100, "{error}");
    }

    #[test]
    fn array_indexes_are_checked_where_they_are_used() {
        for bad in [["a.1", "a.0"], ["a.0", "a.x"], ["a.x", "a.0"], ["a.0", "a.2"], ["a.0", "a.01"]] {
            assert!(order(&bad, true).is_err(), "{bad:?}");
            assert!(order(&bad, false).is_ok(), "{bad:?}");
        }
        assert_eq!(order(&["0", "1"], true), Ok(vec![(0, 0, 0), (1, 0, 0)]));
    }
}
