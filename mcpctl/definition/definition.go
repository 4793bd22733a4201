// Package definition says what an MCP server is, as somebody has configured it: how it is started or reached, where that
// is written, and who wrote it.
//
// A definition holds no expanded variable: "${TOKEN}" stays as it is until Expand, when the server is started. Two
// definitions with the same hash start exactly the same thing, as far as Hash can know it.
package definition

import "time"

// Transport is how messages reach a server.
type Transport string

// The transports.
const (
	Stdio Transport = "stdio"
	HTTP  Transport = "http" // streamable HTTP
	SSE   Transport = "sse"  // its predecessor
)

// Scope is who configured a server.
type Scope string

// The scopes, in order of precedence.
const (
	Local   Scope = "local"   // the person, for this project
	User    Scope = "user"    // the person, for all projects
	Project Scope = "project" // the repository: not trusted
)

// Share describes which threads use the same process of a server.
type Share string

// The shares.
const (
	ByThread  Share = "thread"  // each thread has its own
	ByProject Share = "project" // the threads of a project have one
)

// Source is a place where a server is configured.
type Source struct {
	File  string // absolute
	Line  int    // from 1; 0 if it is not known
	Agent string // whose file it is: "claude", "codex", "gemini", "opencode", "cursor", "vscode", "orchestrator"
	Scope Scope
}

// Definition is a configured server.
type Definition struct {
	// ID names the server among all that were found: letters, digits, "-", "_" and ".", at most 64, without two "_" in a
	// row, which separate a server from its tool. It is the configured name where that is unique and of that form.
	ID   string
	Name string // as configured
	// Sources are all places that configure exactly this, in order of precedence.
	Sources   []Source
	Transport Transport

	// For stdio. Dir is absolute or empty for the folder of the thread or project.
	Command string
	Args    []string
	Env     map[string]string
	EnvVars []string // names of variables that are passed on from the person's environment
	EnvFile string   // its variables are set unless Env has them
	environ *variables
	// contents are those of the files that {file:…} names, read once; nil reads each when it is needed.
	contents contents
	Dir      string

	// For http and sse. HeaderVars are headers whose values are in variables, BearerVar names a variable with a token.
	// Helper is a command that prints headers as JSON.
	URL        string
	Headers    map[string]string
	HeaderVars map[string]string // name of a header: name of a variable
	BearerVar  string
	Helper     string
	OAuth      OAuth

	// Inputs are values that its configuration says a person is asked for: "${input:id}".
	Inputs []Input

	// Enabled is unset if the agent's own configuration disables it.
	Enabled  bool
	Patterns []string // taskPatterns
	Options  Options
	// Problem is why it cannot be used, in a sentence; empty if it can.
	Problem string
	// Warnings are what a person should know of it: an unpinned version, a setting that is not known here.
	Warnings []string
}

// OAuth is what is configured for signing in to a remote server.
type OAuth struct {
	ClientID     string
	CallbackPort int
	Scopes       []string
	MetadataURL  string
}

// Input is a value that a person is asked for before the server can be started.
type Input struct {
	ID          string
	Description string
	Secret      bool
}

// Options are the settings for a server. Zero values mean the defaults of who uses them.
type Options struct {
	Share        Share
	IdleStop     time.Duration // a process that long without a call is stopped
	StartTimeout time.Duration
	CallTimeout  time.Duration
	Allow, Deny  []string // names of tools; Allow empty means all
	StageChars   int      // results longer than that are staged
	Description  string
	Tags         []string
	// Files are files and folders of the project, relative to it, that the server loads besides those that are found.
	Files []string
}

// Trusted reports whether the person wrote it.
func (d Definition) Trusted() bool { return len(d.Sources) > 0 && d.Sources[0].Scope != Project }
