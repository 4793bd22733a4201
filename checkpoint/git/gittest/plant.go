package gittest

import (
	"os"
	"path/filepath"
	"strings"
)

// Planted are settings that a test plants in a repository's own configuration, with the canary as their program. Those
// of Converts and Connects must be refused where they would be used; none of them must ever run.
var (
	Converts = []string{
		"filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "merge.evil.driver", "gpg.program",
		"gpg.ssh.program", "gpg.openpgp.program", "gpg.ssh.defaultKeyCommand", "lfs.extension.evil.clean",
	}
	Connects = []string{
		"core.sshCommand", "core.gitProxy", "core.askPass", "remote.origin.receivepack", "remote.origin.uploadpack",
		"remote.origin.vcs", "remote.origin.proxy", "credential.helper", "credential.https://example.org.helper",
		"http.proxy", "http.sslCAInfo", "http.https://example.org.extraHeader", "url.ext::sh.insteadOf",
		"url.evil:.pushInsteadOf", "protocol.ext.allow", "protocol.allow", "lfs.customtransfer.evil.path",
		"lfs.standalonetransferagent",
	}
	Ignored = []string{
		"core.fsmonitor", "core.editor", "sequence.editor", "core.pager", "pager.log", "core.hooksPath",
		"core.alternateRefsCommand", "diff.external", "diff.evil.command", "diff.evil.textconv", "interactive.diffFilter",
		"uploadpack.packObjectsHook", "submodule.sub.update", "trailer.evil.command", "trailer.evil.cmd", "alias.commit",
		"alias.merge", "pull.twohead", "branch.main.mergeOptions", "merge.tool", "mergetool.evil.cmd", "difftool.evil.cmd",
		"gc.recentObjectsHook", "receive.procReceiveRefs", "include.evil", "log.mailmap", "mailmap.file", "fsmonitor.evil",
		"browser.evil.cmd", "man.evil.cmd", "help.browser", "instaweb.httpd", "sendemail.sendmailcmd", "tar.evil.command",
		"core.notesRef", "maintenance.strategy", "gpg.ssh.evil",
	}
	// Hooks are all hooks that git knows, and some of its helpers.
	Hooks = []string{
		"applypatch-msg", "pre-applypatch", "post-applypatch", "pre-commit", "pre-merge-commit", "prepare-commit-msg",
		"commit-msg", "post-commit", "pre-rebase", "post-checkout", "post-merge", "pre-push", "pre-receive", "update",
		"proc-receive", "post-receive", "post-update", "reference-transaction", "push-to-checkout", "pre-auto-gc",
		"post-rewrite", "sendemail-validate", "fsmonitor-watchman", "post-index-change",
	}
)

// Canary writes a program into a folder that leaves a trace when it runs, and returns it with a function that counts
// its runs.
func Canary(t T, dir string) (program string, ran func() int) {
	t.Helper()
	trace := filepath.Join(dir, "canary-ran")
	program = filepath.Join(dir, "canary.sh")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho \"$0 $*\" >>'"+trace+"'\n"), 0o755); err != nil {
		t.Fatalf("%v", err)
	}
	return program, func() int {
		b, err := os.ReadFile(trace)
		if err != nil {
			return 0
		}
		n := 0
		for _, c := range b {
			if c == '\n' {
				n++
			}
		}
		return n
	}
}

// PlantHooks makes the canary every hook of a repository.
func PlantHooks(t T, gitDir, program string) {
	t.Helper()
	for _, hook := range Hooks {
		path := filepath.Join(gitDir, "hooks", hook)
		_ = os.MkdirAll(filepath.Dir(path), 0o755)
		_ = os.Remove(path)
		if err := os.Symlink(program, path); err != nil {
			t.Fatalf("%v", err)
		}
	}
}

// ConfigHooks makes the canary every hook, as git 2.54 and newer read them from a configuration.
func ConfigHooks(program string) string {
	var b strings.Builder
	b.WriteString(Line("hook.evil.command", program))
	for _, hook := range Hooks {
		b.WriteString(Line("hook.evil.event", hook))
	}
	return b.String()
}

// Line is a setting as it appears in a configuration file.
func Line(key, value string) string {
	section, rest, _ := strings.Cut(key, ".")
	name := rest
	if at := strings.LastIndexByte(rest, '.'); at >= 0 {
		section, name = section+" \""+rest[:at]+"\"", rest[at+1:]
	}
	return "[" + section + "]\n\t" + name + " = \"" + value + "\"\n"
}
