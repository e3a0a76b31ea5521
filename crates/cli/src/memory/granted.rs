//! How much memory this process may have, according to its container and its resource limits, on Linux.

use std::fs;
use std::path::{Path, PathBuf};

/// The memory limit of a session if the user gives none: low enough for the process to end by itself, with what it has
/// found, before the system kills it.
pub(crate) fn default_limit() -> u64 {
    let granted = granted(Path::new("/"));
    granted.map_or(weir::Limits::DEFAULT_MEMORY, |granted| weir::Limits::DEFAULT_MEMORY.min(granted / 10 * 9))
}

/// The lowest of all limits of a system whose files are below this folder.
fn granted(root: &Path) -> Option<u64> {
    let read = |path: &Path| fs::read_to_string(path).ok();
    let limits = read(&root.join("proc/self/limits")).and_then(|text| of_process(&text));
    let groups = read(&root.join("proc/self/cgroup")).unwrap_or_default();
    let of_groups = files(&groups).into_iter().filter_map(|file| read(&root.join(file))?.trim().parse().ok());
    limits.into_iter().chain(of_groups).min()
}

/// The lowest resource limit that allocations are subject to.
fn of_process(limits: &str) -> Option<u64> {
    // Stacks and the heaps of threads take address space without being used, so only half of it counts.
    let soft = |line: &str| {
        let limits = [("Max address space", 2), ("Max data size", 1)];
        let (rest, share) = limits.iter().find_map(|(name, share)| Some((line.strip_prefix(name)?, share)))?;
        rest.split_whitespace().next()?.parse::<u64>().ok().map(|bytes| bytes / share)
    };
    limits.lines().filter_map(soft).min()
}

/// The files with the limits of the control groups that a process is in, and of the enclosing groups.
fn files(groups: &str) -> Vec<PathBuf> {
    let file = |line: &str| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next()?, parts.next()?);
        let (base, name) = match controllers {
            "" => ("sys/fs/cgroup", "memory.max"),
            all if all.split(',').any(|one| one == "memory") => ("sys/fs/cgroup/memory", "memory.limit_in_bytes"),
            _ => return None,
        };
        let path = Path::new(path.trim_start_matches('/'));
        Some(path.ancestors().map(|around| Path::new(base).join(around).join(name)).collect::<Vec<_>>())
    };
    groups.lines().filter_map(file).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: &str = "Limit                     Soft Limit           Hard Limit           Units\n\
                          Max data size             unlimited            unlimited            bytes\n\
                          Max address space         2000000000           unlimited            bytes\n\
                          Max open files            1024                 4096                 files\n";

    #[test]
    fn the_least_limit_counts() {
        assert_eq!(of_process(LIMITS), Some(1_000_000_000));
        assert_eq!(of_process(&LIMITS.replace("unlimited            unlimited", "7 9")), Some(7));
        assert_eq!(of_process("Max open files 3 3 files"), None);
        let paths = |groups| files(groups).iter().map(|path| path.display().to_string()).collect::<Vec<_>>();
        let (new, old) = ("sys/fs/cgroup/", "sys/fs/cgroup/memory/");
        assert_eq!(paths("0::/a/b\n"), ["a/b/", "a/", ""].map(|at| format!("{new}{at}memory.max")));
        let groups = "2:cpu:/x\n4:hugetlb,memory:/job\n";
        assert_eq!(paths(groups), ["job/", ""].map(|at| format!("{old}{at}memory.limit_in_bytes")));
    }

    #[test]
    fn groups_around_a_group_count_and_no_limit_is_none() {
        let root = std::env::temp_dir().join(format!("weir-granted-{}", std::process::id()));
        let put = |path: &str, text: &str| {
            let path = root.join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("it can be made");
            fs::write(path, text).expect("it can be written");
        };
        assert_eq!(granted(&root), None);
        put("proc/self/cgroup", "0::/job/step\n");
        put("sys/fs/cgroup/job/step/memory.max", "max\n");
        assert_eq!(granted(&root), None);
        put("sys/fs/cgroup/job/memory.max", "3000000000\n");
        assert_eq!(granted(&root), Some(3_000_000_000));
        put("proc/self/limits", LIMITS);
        assert_eq!(granted(&root), Some(1_000_000_000));
        fs::remove_dir_all(&root).expect("it is ours");
        assert!(default_limit() <= weir::Limits::DEFAULT_MEMORY);
    }
}
