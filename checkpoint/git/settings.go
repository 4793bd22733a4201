package git

import (
	"strings"
	"sync"
)

// data are the settings of a repository's own configuration that are passed to git unchanged: values that say how
// files, objects, remotes and names are interpreted, and that start nothing. "*" is any subsection. Settings in neither
// this table nor programs are left out, including those of later versions of git.
var data = sync.OnceValue(func() map[string]bool {
	return names(`
	core: repositoryformatversion bare filemode symlinks ignorecase precomposeunicode protecthfs protectntfs
	core: trustctime checkstat autocrlf eol safecrlf checkroundtripencoding sharedrepository excludesfile attributesfile
	core: bigfilethreshold compression loosecompression packedgitlimit packedgitwindowsize deltabasecachelimit
	core: sparsecheckout sparsecheckoutcone splitindex untrackedcache preloadindex multipackindex commitgraph
	core: usereplacerefs abbrev whitespace commentchar commentstring createobject warnambiguousrefs
	index: sparse version threads recordendofindexentries recordoffsettable skiphash
	feature: manyfiles experimental
	splitindex: maxpercentchange sharedindexexpire
	pack: window depth compression threads windowmemory packsizelimit
	user: name email signingkey useconfigonly
	author: name email
	committer: name email
	commit: gpgsign
	gpg: format mintrustlevel
	gpg.*: allowedsignersfile revocationfile
	i18n: commitencoding logoutputencoding
	merge: conflictstyle renames renamelimit directoryrenames renormalize verifysignatures default log suppressdest
	merge: verbosity branchdesc
	merge.*: name recursive
	filter.*: required
	diff: algorithm renames renamelimit indentheuristic ignoresubmodules suppressblankempty interhunkcontext context
	diff.*: xfuncname funcname wordregex binary algorithm
	branch.*: remote merge pushremote rebase description
	remote: pushdefault
	remote.*: url pushurl fetch promisor partialclonefilter gh-resolved lfsurl lfspushurl
	receive: denynonfastforwards denydeletes fsckobjects unpacklimit maxinputsize
	transfer: fsckobjects hiderefs unpacklimit
	status: renames renamelimit
	submodule.*: url active ignore branch path
	submodule: active
	init: defaultbranch
	ssh: variant
	credential: username usehttppath
	credential.*: username usehttppath
	http: postbuffer version lowspeedlimit lowspeedtime maxrequests minsessions
	http.*: postbuffer version lowspeedlimit lowspeedtime
	lfs: url pushurl repositoryformatversion storage concurrenttransfers fetchinclude fetchexclude locksverify
	lfs: skipdownloaderrors allowincompletepush basictransfersonly
	lfs.*: access locksverify
`)
})

// Use is what a program is run for.
type Use int

// Uses of the programs in a repository's own configuration.
const (
	Converts Use = iota + 1 // files on their way into or out of a commit, merges, signatures
	Connects                // on the way to a remote, or decides who it really is
)

// programs are the settings whose value git runs, or that decide where it connects to and what it trusts there.
var programs = sync.OnceValue(func() map[Use]map[string]bool {
	return map[Use]map[string]bool{
		Converts: names(`
	filter.*: clean smudge process
	merge.*: driver
	gpg: program
	gpg.*: program defaultkeycommand
	lfs.*: clean smudge
`),
		Connects: names(`
	core: sshcommand gitproxy askpass
	remote.*: receivepack uploadpack proxy proxyauthmethod vcs serveroption
	lfs: standalonetransferagent customtransfers
	lfs.*: path args standalonetransferagent
`),
	}
})

// names parses a table.
func names(text string) map[string]bool {
	found := map[string]bool{}
	for line := range strings.Lines(text) {
		section, keys, _ := strings.Cut(strings.TrimSpace(line), ":")
		for _, key := range strings.Fields(keys) {
			found[section+"."+key] = true
		}
	}
	return found
}

// parts splits a key, as git lists it, into section, subsection and name.
func parts(key string) (section, sub, name string, hasSub bool) {
	section, rest, _ := strings.Cut(key, ".")
	at := strings.LastIndexByte(rest, '.')
	if at < 0 {
		return section, "", rest, false
	}
	return section, rest[:at], rest[at+1:], true
}

// starred is a key with "*" for its subsection, as in the tables.
func starred(key string) string {
	section, _, name, sub := parts(key)
	if sub {
		return section + ".*." + name
	}
	return section + "." + name
}

// isData reports whether a setting is passed to git.
func isData(key string) bool {
	section, _, name, sub := parts(key)
	if section == "extensions" && !sub {
		return name != "worktreeconfig" // git must refuse unknown ones; those of a worktree are included
	}
	return data()[starred(key)]
}

// useOf returns what a setting's program is run for, 0 for a setting without a program.
func useOf(key string) Use {
	for use, table := range programs() {
		if table[starred(key)] {
			return use
		}
	}
	switch section, _, _, _ := parts(key); section {
	case "http", "credential", "url", "protocol":
		if !isData(key) {
			return Connects
		}
	}
	return 0
}
