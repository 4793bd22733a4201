package definition

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"orchestrator/mcpctl/hidden"
	"orchestrator/thread/frozen"
	"orchestrator/thread/secret"
)

// Shown returns what a person is asked to accept, a line for each thing that the launch hash covers: the exact command,
// never cut, with its arguments quoted as for a shell. Characters that could not be seen are marks. Variables are
// unexpanded, and values that look like credentials are redacted; in a command line of a repository only where that can
// hide nothing that a shell would run.
func (d Definition) Shown(files FileHasher) []string {
	s := shown{trusted: d.Trusted()}
	s.add("transport", string(d.Transport))
	if d.Transport == Stdio {
		s.add("command", s.commandLine(append([]string{d.Command}, d.Args...)))
	}
	s.add("folder", files.place(d.Dir))
	for _, name := range slices.Sorted(maps.Keys(d.Env)) {
		s.add("environment", s.assignment(name, "=", d.Env[name]))
	}
	for _, name := range sorted(d.EnvVars) {
		s.add("environment passed on", name)
	}
	if d.EnvFile != "" {
		s.add("environment file", files.place(d.EnvFile)+files.envNames(d))
	}
	s.add("URL", s.redact(withoutKeys(d.URL)))
	for _, name := range slices.Sorted(maps.Keys(d.Headers)) {
		s.add("header", s.assignment(name, ": ", d.Headers[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(d.HeaderVars)) {
		s.add("header", name+": value of variable "+d.HeaderVars[name])
	}
	s.add("bearer token", d.BearerVar)
	s.add("headers helper, a command", s.redact(d.Helper))
	s.oauth(d.OAuth)
	values := files.values(d)
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if path, ok := strings.CutPrefix(name, fileValue); ok {
			s.add("content of a file", path+", whose fingerprint is "+values[name])
			continue
		}
		s.add("variable of your environment", name+", whose value has the fingerprint "+values[name])
	}
	s.files(files, d)
	return s.lines
}

// Diff returns what changed between two results of Shown: lines that begin with "-", "+" or " ". If none differs, what
// changed is not shown, and it says so.
func Diff(was, now []string) []string {
	text := func(lines []string) string { return strings.Join(lines, "\n") + "\n" }
	if slices.Equal(was, now) {
		return []string{" a value that is not shown has changed"}
	}
	var out []string
	for i, line := range strings.Split(strings.TrimSuffix(udiff.Unified("was", "now", text(was), text(now)), "\n"), "\n") {
		if i >= 2 && !strings.HasPrefix(line, "@@") { // the first two name the sides
			out = append(out, line)
		}
	}
	return out
}

// shown collects lines.
type shown struct {
	trusted bool
	lines   []string
}

func (s *shown) add(what, value string) {
	if value != "" {
		s.lines = append(s.lines, what+": "+hidden.Visible(value))
	}
}

func (s *shown) oauth(o OAuth) {
	s.add("OAuth client", o.ClientID)
	if o.CallbackPort != 0 {
		s.add("OAuth callback port", fmt.Sprint(o.CallbackPort))
	}
	s.add("OAuth scopes", strings.Join(sorted(o.Scopes), " "))
	s.add("OAuth metadata", o.MetadataURL)
}

// maxFilesShown is how many files are shown by themselves.
const maxFilesShown = 200

// files shows what is copied from the project, where it is started, and what can change without a question.
func (s *shown) files(files FileHasher, d Definition) {
	if len(files.Roots) == 0 {
		return
	}
	p, err := files.plan(d)
	if err != nil {
		s.add("files", err.Error())
		return
	}
	var more []frozen.Entry
	installed := map[string][]frozen.Entry{}
	shown := 0
	for _, e := range p.entries {
		top, ok := dependencies(files.root(), e.Path)
		switch {
		case ok:
			installed[top] = append(installed[top], e)
		case shown >= maxFilesShown:
			more = append(more, e)
		case e.Link != "":
			shown++
			s.add("link of the project", e.Path+" → "+e.Link)
		default:
			shown++
			s.add("file of the project", e.Path+", SHA-256 "+e.Sum)
		}
	}
	for _, top := range slices.Sorted(maps.Keys(installed)) {
		s.add("installed in the project", fmt.Sprintf("%s, %d files, SHA-256 %s", top, len(installed[top]), frozen.Hash(installed[top])))
	}
	if len(more) > 0 {
		s.add("more files of the project", fmt.Sprintf("%d, SHA-256 %s", len(more), frozen.Hash(more)))
	}
	if d.Transport == Stdio || d.Helper != "" {
		s.start(p)
		s.uncovered(p, d)
	}
}

// start tells where it is started.
func (s *shown) start(p plan) {
	switch {
	case p.inside && len(p.entries) == 0:
		s.add("starts in", "an empty folder, as it would load what it finds in the thread's folder")
	case p.inside:
		s.add("starts in", "a copy of these files, not in the thread's folder: what it reads and writes by relative names is the copy")
	case len(p.entries) > 0:
		s.add("starts in", "the thread's folder; these files are run from a copy")
	}
}

// uncovered tells what can change without a question.
func (s *shown) uncovered(p plan, d Definition) {
	if d.Trusted() && len(p.entries) == 0 && len(p.folders) == 0 {
		return
	}
	for _, folder := range p.folders {
		s.add("names a folder of the project, whose content can change without a question", folder)
	}
	for _, link := range p.out {
		s.add("leads out of the project, where it can change without a question", link)
	}
	switch {
	case p.manner == packages && len(p.entries) == 0:
		s.add("not covered", "the package that is downloaded")
	case p.inside:
		s.add("not covered", "what its own code opens or runs by an absolute path, or downloads")
	default:
		s.add("not covered", "what its own code opens or runs in the thread's folder or by an absolute path, or downloads")
	}
}

// commandLine quotes a command line as a shell reads it.
func (s *shown) commandLine(words []string) string {
	var out []string
	for i, word := range words {
		flag := ""
		if i > 0 {
			flag = words[i-1]
		}
		out = append(out, quote(s.word(flag, word)))
	}
	return strings.Join(out, " ")
}

// word returns a word of a command line; flag is the one before it.
func (s *shown) word(flag, word string) string {
	if s.trusted && strings.HasPrefix(flag, "-") && !strings.Contains(flag, "=") && credential(flag) && opaque(word) {
		return hide(word)
	}
	if name, value, ok := strings.Cut(word, "="); s.trusted && ok && credential(name) && opaque(value) {
		return name + "=" + hide(value)
	}
	return s.redact(word)
}

// redact redacts the shapes of credentials.
func (s *shown) redact(text string) string {
	if !s.trusted && strings.ContainsAny(text, ";|&$()<>`\n\r\\") && !strings.HasPrefix(text, "http") {
		return text
	}
	return secret.Redact(text)
}

// assignment returns a variable or header; a literal value of one that is named like a credential is not shown.
func (s *shown) assignment(name, sign, value string) string {
	if (s.trusted || sign == ": ") && credential(name) && !strings.ContainsAny(value, "${%") && value != "" {
		return name + sign + hide(value)
	}
	return s.redact(name + sign + value)
}

// withoutKeys returns a URL without the literal values of parameters that are named like credentials.
func withoutKeys(url string) string {
	base, query, _ := strings.Cut(url, "?")
	if query == "" {
		return url
	}
	parameters := strings.Split(query, "&")
	for i, p := range parameters {
		if name, value, _ := strings.Cut(p, "="); credential(name) && value != "" && !strings.ContainsAny(value, "${") {
			parameters[i] = name + "=" + hide(value)
		}
	}
	return base + "?" + strings.Join(parameters, "&")
}

// credential reports whether a name ends like that of a credential.
func credential(name string) bool {
	name = strings.ToLower(name)
	for _, end := range []string{"token", "secret", "password", "passwd", "pwd", "key", "authorization", "cookie", "auth"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

// opaque reports whether a value is a literal that names neither a file nor a command.
func opaque(value string) bool {
	return value != "" && !strings.HasPrefix(value, "-") && !strings.ContainsAny(value, " \t\r\n${}%/\\;|&()<>`'\"")
}

func hide(value string) string { return fmt.Sprintf("[hidden, %d characters]", len([]rune(value))) }

// quote quotes a word for a shell if it needs that.
func quote(word string) string {
	const safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=@%+,"
	if word != "" && strings.Trim(word, safe) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// envNames returns the names of the variables in the environment file.
func (f FileHasher) envNames(d Definition) string {
	content, err := readFile(f.expanded(d, d.EnvFile), maxEnvFile)
	if err != nil {
		return " (cannot be read)"
	}
	names := slices.Sorted(maps.Keys(parseEnvFile(content)))
	if len(names) == 0 {
		return " (sets nothing)"
	}
	return " (sets " + strings.Join(names, ", ") + ")"
}
