package launch

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"orchestrator/thread"
	"orchestrator/thread/ground/process"
	"orchestrator/thread/pattern"
)

// Config is the configuration of every adapter.
type Config struct {
	// Env is the environment in which to search for programs, the server's own.
	Env []string
	// Hook is a program with its first arguments that reads an agent's hook report from its standard input, takes the
	// event's name as its last argument, and posts the report to ORCHESTRATOR_HOOK_URL. If empty, agents are started
	// without hooks.
	Hook []string
}

// HookURLVar is the variable with the address to which Config.Hook posts.
const HookURLVar = "ORCHESTRATOR_HOOK_URL"

// Program is an agent's program: how it is found, and which version is required.
type Program struct {
	Agent   string   // the adapter's name
	Command string   // name on PATH
	Folders []string // where else to search, below the home folder unless absolute
	// Package is the npm package, whose package.json contains the version, so that the program need not be started.
	Package string
	Minimum string // oldest supported version
	Install string // command that installs it
	// Native maps the found file to what is executed: an npm package's wrapper to the program inside. If nil, the file
	// itself is executed.
	Native func(path string) (string, []string)

	// mu guards cache.
	mu    sync.Mutex
	cache map[string]string // version by path, size and time
}

// Found is a program that can be started.
type Found struct {
	Path    string   // what is executed
	Args    []string // arguments before all others: the script for an interpreter
	Version string
}

// folders are where package managers install programs, below the home folder unless absolute.
var folders = []string{
	".local/bin", ".npm-global/bin", ".npm/bin", ".bun/bin", ".volta/bin", "bin",
	"/usr/local/bin", "/opt/homebrew/bin", "/usr/bin",
}

// versionTimeout is the time limit for a program's version query.
const versionTimeout = 20 * time.Second

// Find searches for the program on the environment's PATH and then in the well-known folders. The error is a
// thread.HintError that wraps thread.ErrNotFound, or reports that the version is too old.
func (p *Program) Find(ctx context.Context, env Env) (Found, error) {
	info, found := p.search(ctx, env)
	if info.Problem != "" {
		kind := thread.ErrNotFound
		if info.Found {
			kind = thread.ErrUnsupported
		}
		return Found{}, thread.Hint(thread.Kindf(kind, "%s: %s", p.Agent, info.Problem), info.Hint)
	}
	return found, nil
}

// Info describes the program for display.
func (p *Program) Info(ctx context.Context, env Env) thread.AgentInfo {
	info, _ := p.search(ctx, env)
	return info
}

func (p *Program) search(ctx context.Context, env Env) (thread.AgentInfo, Found) {
	info := thread.AgentInfo{Name: p.Agent}
	for _, folder := range p.searchPath(env) {
		path := filepath.Join(folder, p.Command)
		info.Looked = append(info.Looked, path)
		if !process.Executable(path) {
			continue
		}
		found := Found{Path: path}
		if p.Native != nil {
			found.Path, found.Args = p.Native(path)
		}
		if !process.Executable(found.Path) {
			if found.Path, found.Args = path, nil; p.Native == nil {
				continue
			}
		}
		info.Found, info.Path = true, path
		found.Version = p.version(ctx, env, path, found)
		info.Version = found.Version
		switch {
		case found.Version == "":
			info.Problem = "does not report its version"
			info.Hint = fmt.Sprintf("run %s --version to see why, or reinstall it with: %s", path, p.Install)
		case Older(found.Version, p.Minimum):
			info.Problem = fmt.Sprintf("too old: %s, requires %s or newer", found.Version, p.Minimum)
			info.Hint = "update it with: " + p.Install
		}
		return info, found
	}
	info.Problem = "not found"
	info.Hint = "install it with: " + p.Install
	return info, Found{}
}

// searchPath returns absolute folders, without duplicates, PATH first. Relative entries of PATH are ignored: the
// program that is found must not depend on a thread's folder.
func (p *Program) searchPath(env Env) []string {
	var all []string
	seen := map[string]bool{}
	add := func(folder string) {
		if filepath.IsAbs(folder) && !seen[folder] {
			seen[folder] = true
			all = append(all, folder)
		}
	}
	for _, folder := range filepath.SplitList(env.Value("PATH")) {
		add(folder)
	}
	for _, folder := range append(append([]string{}, p.Folders...), folders...) {
		if !filepath.IsAbs(folder) && env.Home() != "" {
			folder = filepath.Join(env.Home(), folder)
		}
		add(folder)
	}
	return all
}

// version returns the version from the npm package that contains the program, or from the program itself.
func (p *Program) version(ctx context.Context, env Env, path string, found Found) string {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return ""
	}
	info, err := os.Stat(real)
	if err != nil {
		return ""
	}
	key := fmt.Sprintf("%s\x00%d\x00%d", real, info.Size(), info.ModTime().UnixNano())
	p.mu.Lock()
	v, ok := p.cache[key]
	p.mu.Unlock()
	if ok {
		return v
	}
	if v = p.packageVersion(real); v == "" {
		v = askVersion(ctx, env, found)
	}
	if v == "" {
		return "" // may be due to load: try again the next time
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cache == nil {
		p.cache = map[string]string{}
	}
	p.cache[key] = v
	return v
}

// packageVersion reads the version in the package.json of the package that contains the file.
func (p *Program) packageVersion(real string) string {
	if p.Package == "" {
		return ""
	}
	folder := filepath.Dir(real)
	for range 4 {
		raw, err := os.ReadFile(filepath.Join(folder, "package.json"))
		if err == nil {
			var pkg struct{ Name, Version string }
			if json.Unmarshal(raw, &pkg) == nil && pkg.Name == p.Package {
				return pkg.Version
			}
		}
		folder = filepath.Dir(folder)
	}
	return ""
}

var versionWord = pattern.Lazy(`\d+\.\d+(?:\.\d+)?[-+.0-9A-Za-z]*`)

func askVersion(ctx context.Context, env Env, found Found) string {
	ctx, cancel := context.WithTimeout(ctx, versionTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, found.Path, append(append([]string{}, found.Args...), "--version")...)
	cmd.Env = env
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return versionWord().FindString(string(out))
}

// Older reports whether version a is older than b, by their numbers.
func Older(a, b string) bool {
	x, y := numbers(a), numbers(b)
	for i := range x {
		if x[i] != y[i] {
			return x[i] < y[i]
		}
	}
	return false
}

func numbers(v string) [3]int {
	var n [3]int
	for i, part := range strings.SplitN(v, ".", 3) {
		end := strings.IndexFunc(part, func(r rune) bool { return r < '0' || r > '9' })
		if end >= 0 {
			part = part[:end]
		}
		x, err := strconv.Atoi(part)
		if err != nil {
			break
		}
		n[i] = x
	}
	return n
}

// NodeArch is this machine's platform as npm packages name it: "linux-x64".
func NodeArch() string {
	arch := map[string]string{"amd64": "x64", "386": "ia32"}[runtime.GOARCH]
	if arch == "" {
		arch = runtime.GOARCH
	}
	return runtime.GOOS + "-" + arch
}

// InModules returns the first executable of the given paths below the node_modules folders that contain the file at
// path, following symbolic links; empty if there is none.
func InModules(path string, inside ...string) string {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return ""
	}
	for folder := filepath.Dir(real); folder != filepath.Dir(folder); folder = filepath.Dir(folder) {
		for _, modules := range []string{filepath.Join(folder, "node_modules"), folder} {
			if filepath.Base(modules) != "node_modules" {
				continue
			}
			for _, in := range inside {
				if p := filepath.Join(modules, in); process.Executable(p) {
					return p
				}
			}
		}
	}
	return ""
}
