package definition

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
)

// values returns fingerprints of the values that a definition takes from the person's environment, by the names of the
// variables, and of the contents of files that it names with {file:…}, by "file" and their paths. They tell values apart,
// and say nothing about them to whoever does not have the key.
func (f FileHasher) values(d Definition) map[string]string {
	all := map[string]string{}
	mark := func(name, v string) {
		h := hmac.New(sha256.New, f.Key)
		h.Write([]byte(name + "\x00" + v)) // a hash takes everything
		all[name] = hex.EncodeToString(h.Sum(nil))[:16]
	}
	d = d.withContents(f.lookup)
	d.takes(func(name string) (string, bool) {
		v, ok := f.lookup(name)
		if ok && v != "" && name != "workspaceFolder" {
			mark(name, v)
		}
		return v, ok
	})
	for path, c := range d.contents {
		if name := fileValue + f.place(path); c.err == nil {
			mark(name, string(c.text))
		} else {
			all[name] = "missing"
		}
	}
	return all
}

// fileValue begins the name of what is taken from a file; no variable's name has a space.
const fileValue = "file "

// takes looks up every variable that Expand would.
func (d Definition) takes(lookup func(name string) (string, bool)) {
	e := d.expansion(lookup)
	for _, text := range d.texts() {
		_, _ = e.expand(text) // what is not set is an error for who starts it
	}
	names := slices.Concat(d.EnvVars, slices.Collect(maps.Values(d.HeaderVars)))
	if d.BearerVar != "" {
		names = append(names, d.BearerVar)
	}
	for _, name := range names {
		lookup(name)
	}
}

// withContents returns the definition with what its texts name with {file:…} read now, if that was not done.
func (d Definition) withContents(lookup func(name string) (string, bool)) Definition {
	if d.contents != nil || d.syntax() != braces {
		return d
	}
	all := contents{}
	e := d.expansion(lookup)
	e.files = func(path string) ([]byte, error) {
		if _, known := all[path]; !known {
			text, err := contents(nil).read(path)
			all[path] = content{text, err}
		}
		return all[path].text, all[path].err
	}
	for _, text := range d.texts() {
		_, _ = e.expand(text) // what cannot be read is an error for who starts it
	}
	d.contents = all
	return d
}

// texts are those in which variables may stand.
func (d Definition) texts() []string {
	return slices.Concat([]string{d.Command, d.Dir, d.EnvFile, d.URL, d.Helper, d.OAuth.ClientID}, d.Args,
		slices.Collect(maps.Values(d.Env)), slices.Collect(maps.Values(d.Headers)))
}

// Differing names the variables of a definition that have other values for one hasher than for another.
func (d Definition) Differing(a, b FileHasher) []string {
	of, than := a.values(d), b.values(d)
	maps.DeleteFunc(of, func(name, v string) bool {
		same := than[name] == v
		delete(than, name)
		return same
	})
	for name := range than {
		of[name] = ""
	}
	return slices.Sorted(maps.Keys(of))
}
