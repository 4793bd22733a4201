package git

import "strings"

// Alternate quotes a path for git's list of object folders, GIT_ALTERNATE_OBJECT_DIRECTORIES.
func Alternate(path string) string {
	if !strings.ContainsAny(path, "\":") {
		return path
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(path) + `"`
}

// keepEnv are the GIT_* variables that say who the person is, where their own configuration is and how their remotes
// are reached.
var keepEnv = map[string]bool{
	"GIT_CONFIG_GLOBAL": true, "GIT_CONFIG_SYSTEM": true, "GIT_CONFIG_NOSYSTEM": true,
	"GIT_SSH_VARIANT": true, "GIT_SSL_CAINFO": true, "GIT_SSL_CAPATH": true, "GIT_SSL_CERT": true, "GIT_SSL_KEY": true,
	"GIT_AUTHOR_NAME": true, "GIT_AUTHOR_EMAIL": true, "GIT_COMMITTER_NAME": true, "GIT_COMMITTER_EMAIL": true,
	"GIT_SSH": true, "GIT_SSH_COMMAND": true, "GIT_EXEC_PATH": true,
}

// Locates reports whether a variable gives the location of a repository or a part of it, as git itself sets them for
// its child processes.
func Locates(key string) bool {
	switch key {
	case "GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY",
		"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE", "GIT_PREFIX", "GIT_IMPLICIT_WORK_TREE",
		"GIT_INTERNAL_SUPER_PREFIX":
		return true
	}
	return false
}

func environ(from []string) []string {
	env := make([]string, 0, len(from)+8)
	for _, kv := range from {
		key, _, _ := strings.Cut(kv, "=")
		if (strings.HasPrefix(key, "GIT_") && !keepEnv[key]) || strings.HasPrefix(key, "LC_") || key == "LANGUAGE" {
			continue
		}
		env = append(env, kv)
	}
	return append(env,
		"LC_ALL=C",
		"GIT_TERMINAL_PROMPT=0",
		"GIT_OPTIONAL_LOCKS=0",
		"GIT_LITERAL_PATHSPECS=1",
		"GIT_NO_LAZY_FETCH=1",
		"GIT_ALLOW_PROTOCOL=none", // an older git does not fetch what a partial clone lacks either: only a push connects
		"GIT_EDITOR=:",
		"GIT_PAGER=cat",
	)
}
