//! Which image of one side is which one of the other.
//!
//! Asked of images in the same place, of one kind and for one architecture: first the same bytes are
//! paired, then the same kernels, then what is left by its order. The place is the path below what
//! was given and the names of members after it, so that a wheel can be held against its folder.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::hash::Hash;

use serde::Serialize;

use crate::report::ImageReport;

/// An image and its file.
#[derive(Clone, Serialize)]
pub struct Placed {
    pub path: String,
    /// The path, from what was given; empty for a file that was given itself.
    #[serde(skip)]
    pub below: String,
    #[serde(flatten)]
    pub image: ImageReport,
}

/// What became of one image.
pub enum Change {
    Added(Placed),
    Lost(Placed),
    Changed(Box<Changed>),
}

#[derive(Serialize)]
pub struct Changed {
    pub old: Placed,
    pub new: Placed,
    /// `null` where the kernels of one of the two could not be read.
    pub kernels_added: Option<Vec<String>>,
    pub kernels_lost: Option<Vec<String>>,
}

/// How two sides differ.
#[derive(Default)]
pub struct Difference {
    /// How many images are on both sides.
    pub same: usize,
    /// By place, kind and architecture.
    pub changes: Vec<Change>,
    pub bytes: Bytes,
}

/// What all images of a side take, as stored.
#[derive(Default, Clone, Copy, Serialize)]
pub struct Bytes {
    pub old: u64,
    pub new: u64,
}

type Key = (Vec<String>, String, Option<String>);

impl Placed {
    fn key(&self) -> Key {
        let file = (!self.below.is_empty()).then(|| self.below.clone());
        let place = file.into_iter().chain(self.image.member.iter().cloned());
        let image = &self.image;
        (place.collect(), image.kind.clone(), image.arch.clone())
    }
}

impl Changed {
    fn new(old: Placed, new: Placed) -> Self {
        let beyond = |some: &Placed, others: &Placed| {
            let (some, others) = (some.image.kernels.as_ref()?, others.image.kernels.as_ref()?);
            let others: std::collections::HashSet<&String> = others.iter().collect();
            let beyond = some.iter().filter(|name| !others.contains(name));
            Some(beyond.cloned().collect())
        };
        Self {
            kernels_added: beyond(&new, &old),
            kernels_lost: beyond(&old, &new),
            old,
            new,
        }
    }
}

impl Difference {
    pub fn between(old: Vec<Placed>, new: Vec<Placed>) -> Self {
        let stored = |side: &[Placed]| side.iter().map(|placed| placed.image.size).sum();
        let mut difference = Self {
            bytes: Bytes {
                old: stored(&old),
                new: stored(&new),
            },
            ..Self::default()
        };
        let mut groups: BTreeMap<Key, [Vec<Placed>; 2]> = BTreeMap::new();
        for (side, images) in [old, new].into_iter().enumerate() {
            for placed in images {
                groups.entry(placed.key()).or_default()[side].push(placed);
            }
        }
        for [old, new] in groups.into_values() {
            difference.of_group(old, new);
        }
        difference
    }

    /// Whether there is no image on any side.
    pub fn is_empty(&self) -> bool {
        self.same == 0 && self.changes.is_empty()
    }

    fn of_group(&mut self, mut old: Vec<Placed>, mut new: Vec<Placed>) {
        self.same += pairs(&mut old, &mut new, |placed| placed.image.sha256.clone()).len();
        let mut changed = pairs(&mut old, &mut new, |placed| placed.image.kernels.clone());
        changed.extend(pairs(&mut old, &mut new, |_| Some(())));
        let changed = changed.into_iter().map(|(old, new)| Changed::new(old, new));
        self.changes
            .extend(changed.map(|changed| Change::Changed(Box::new(changed))));
        self.changes.extend(old.into_iter().map(Change::Lost));
        self.changes.extend(new.into_iter().map(Change::Added));
    }
}

/// Takes those out of both that have the same key, the first with the first.
fn pairs<K: Eq + Hash>(
    old: &mut Vec<Placed>,
    new: &mut Vec<Placed>,
    key: impl Fn(&Placed) -> Option<K>,
) -> Vec<(Placed, Placed)> {
    let mut waiting: HashMap<K, VecDeque<usize>> = HashMap::new();
    for (at, placed) in old.iter().enumerate() {
        if let Some(key) = key(placed) {
            waiting.entry(key).or_default().push_back(at);
        }
    }
    let mut partners: HashMap<usize, Placed> = HashMap::new();
    for placed in std::mem::take(new) {
        let partner = key(&placed).and_then(|key| waiting.get_mut(&key)?.pop_front());
        match partner {
            Some(at) => drop(partners.insert(at, placed)),
            None => new.push(placed),
        }
    }
    let mut pairs = Vec::new();
    for (at, placed) in std::mem::take(old).into_iter().enumerate() {
        match partners.remove(&at) {
            Some(partner) => pairs.push((placed, partner)),
            None => old.push(placed),
        }
    }
    pairs
}
