package repository

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Settings are the parts of the person's configuration that decide which files count and how they are read.
type Settings struct {
	Excludes  string `json:"excludes"`  // core.excludesFile, "" for git's default
	FileMode  bool   `json:"fileMode"`  // the file system stores the executable bit
	Symlinks  bool   `json:"symlinks"`  // … and symbolic links
	Ignore    bool   `json:"ignore"`    // … and it ignores case
	Compose   bool   `json:"compose"`   // … and it decomposes Unicode names
	Shared    string `json:"shared"`    // core.sharedRepository
	Format    string `json:"format"`    // hash: "sha1", "sha256"
	Sparse    bool   `json:"sparse"`    // core.sparseCheckout
	Partial   bool   `json:"partial"`   // a partial clone: blobs that were never checked out may be missing
	Origins   []file `json:"origins"`   // the files that this was read from, and those that would count
	Worktrees bool   `json:"worktrees"` // core.worktree is set: a submodule or similar
}

// file is a file with what reveals a change.
type file struct {
	Path  string `json:"path"`
	Size  int64  `json:"size"` // -1 if it is missing
	MTime int64  `json:"mtime"`
	Inode uint64 `json:"inode"`
}

func stampOf(path string) file {
	info, err := os.Stat(path)
	if err != nil {
		return file{Path: path, Size: -1}
	}
	return file{Path: path, Size: info.Size(), MTime: info.ModTime().UnixNano(), Inode: inode(info)}
}

func (s Settings) fresh() bool {
	for _, f := range s.Origins {
		if stampOf(f.Path) != f {
			return false
		}
	}
	return len(s.Origins) > 0
}

func (s *Settings) read(key, value string, yes bool) {
	switch key {
	case "core.excludesfile":
		s.Excludes = value
	case "core.filemode":
		s.FileMode = yes
	case "core.symlinks":
		s.Symlinks = yes
	case "core.ignorecase":
		s.Ignore = yes
	case "core.precomposeunicode":
		s.Compose = yes
	case "core.sharedrepository":
		s.Shared = value
	case "core.sparsecheckout":
		s.Sparse = yes
	case "extensions.objectformat":
		s.Format = strings.ToLower(value)
	case "core.worktree":
		s.Worktrees = true
	case "extensions.partialclone":
		s.Partial = true
	default:
		if strings.HasPrefix(key, "remote.") && strings.HasSuffix(key, ".promisor") {
			s.Partial = s.Partial || yes
		}
	}
}

// parseBool parses a boolean as git does, including numbers other than 0.
func parseBool(v string) bool {
	switch strings.ToLower(v) {
	case "", "0", "false", "no", "off":
		return false
	}
	return true
}

func expandHome(path string, env []string) string {
	rest, ok := strings.CutPrefix(path, "~/")
	if !ok {
		return path
	}
	for _, kv := range env {
		if home, ok := strings.CutPrefix(kv, "HOME="); ok {
			path = filepath.Join(home, rest)
		}
	}
	return path
}

// attributes override every .gitattributes: files are stored as they are on disk.
const attributes = "* -text !eol -filter -ident !working-tree-encoding -crlf\n"

// shadow is the content of the files in our own git folder.
func (s Settings) shadow() map[string]string {
	return map[string]string{"HEAD": "ref: refs/heads/orchestrator\n", "info/attributes": attributes, "config": s.config()}
}

func (s Settings) config() string {
	var b strings.Builder
	version := 0
	if s.Format != "sha1" {
		version = 1
	}
	fmt.Fprintf(&b, "[core]\n\trepositoryFormatVersion = %d\n\tbare = false\n\tfileMode = %t\n\tsymlinks = %t\n"+
		"\tignoreCase = %t\n\tprecomposeUnicode = %t\n", version, s.FileMode, s.Symlinks, s.Ignore, s.Compose)
	b.WriteString("\tautocrlf = false\n\tsafecrlf = false\n\tuntrackedCache = false\n\tfsmonitor = false\n")
	if s.Excludes != "" {
		fmt.Fprintf(&b, "\texcludesFile = %s\n", quote(s.Excludes))
	}
	if s.Shared != "" {
		fmt.Fprintf(&b, "\tsharedRepository = %s\n", quote(s.Shared))
	}
	if s.Format != "sha1" {
		fmt.Fprintf(&b, "[extensions]\n\tobjectFormat = %s\n", quote(s.Format))
	}
	return b.String()
}

// quote quotes a value for git's configuration file.
func quote(v string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`).Replace(v) + `"`
}
