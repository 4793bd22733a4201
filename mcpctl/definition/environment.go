package definition

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"orchestrator/thread/ground/process"
)

// BaseEnv returns what a server gets of an environment without declaring it: where things are, the language, the time
// zone, and how other machines are reached. Keys, tokens and our own variables are not among it.
func BaseEnv(environ []string) []string {
	var out []string
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		switch name {
		case "HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "LANG", "TMPDIR", "TZ":
		default:
			if !strings.HasPrefix(name, "LC_") && !slices.Contains(baseFolders(), name) && !outgoing(name) {
				continue
			}
		}
		out = append(out, entry)
	}
	return out
}

// baseFolders are the variables of the XDG specification: any other name that begins so may be anything.
func baseFolders() []string {
	return []string{"XDG_CACHE_HOME", "XDG_CONFIG_DIRS", "XDG_CONFIG_HOME", "XDG_DATA_DIRS", "XDG_DATA_HOME",
		"XDG_RUNTIME_DIR", "XDG_STATE_HOME"}
}

// outgoing reports whether a variable says how other machines are reached, in whichever spelling: proxies, certificates,
// and where packages come from. Without them a server that npx or uvx downloads does not start behind a proxy.
func outgoing(name string) bool {
	switch strings.ToUpper(name) {
	case "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "FTP_PROXY", "GRPC_PROXY", "NODE_USE_ENV_PROXY",
		"NODE_EXTRA_CA_CERTS", "NODE_USE_SYSTEM_CA", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE",
		"GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "AWS_CA_BUNDLE", "PIP_CERT", "DENO_CERT", "DENO_TLS_CA_STORE", "UV_NATIVE_TLS",
		"UV_SYSTEM_CERTS", "NPM_CONFIG_REGISTRY", "NPM_CONFIG_PROXY", "NPM_CONFIG_HTTP_PROXY", "NPM_CONFIG_HTTPS_PROXY",
		"NPM_CONFIG_NOPROXY", "NPM_CONFIG_CAFILE", "NPM_CONFIG_USERCONFIG", "NPM_CONFIG_STRICT_SSL", "YARN_NPM_REGISTRY_SERVER",
		"PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_CONFIG_FILE", "UV_INDEX", "UV_INDEX_URL", "UV_DEFAULT_INDEX",
		"UV_EXTRA_INDEX_URL", "UV_CONFIG_FILE", "GOPROXY":
		return true
	}
	return false
}

// Missing returns in a sentence that the command of a server is not there, for an environment (KEY=VALUE); it is empty if
// it is, or if only an expansion can tell.
func Missing(d Definition, env []string) string {
	if d.Transport != Stdio || d.Command == "" {
		return ""
	}
	lookup := func(name string) (string, bool) {
		for _, entry := range slices.Backward(env) {
			if value, ok := strings.CutPrefix(entry, name+"="); ok {
				return value, true
			}
		}
		return "", false
	}
	e := d.expansion(lookup)
	command, err := e.expand(d.Command)
	if err != nil {
		return ""
	}
	if strings.Contains(command, "/") {
		if !filepath.IsAbs(command) {
			if d.Dir == "" {
				return "" // it depends on the folder of the thread
			}
			command = filepath.Join(d.Dir, command)
		}
		if !process.Executable(command) {
			return fmt.Sprintf("%s is not a program", d.Command)
		}
		return ""
	}
	path, _ := lookup("PATH")
	for _, dir := range filepath.SplitList(path) {
		if process.Executable(filepath.Join(dir, command)) {
			return ""
		}
	}
	return fmt.Sprintf("%s is not on PATH", d.Command)
}
