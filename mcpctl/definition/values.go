package definition

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
)

// values returns fingerprints of the values that a definition takes from the person's environment, by the names of the
// variables. They tell values apart, and say nothing about them to whoever does not have the key.
func (f FileHasher) values(d Definition) map[string]string {
	all := map[string]string{}
	if f.Lookup == nil {
		return all
	}
	d.takes(func(name string) (string, bool) {
		v, ok := f.Lookup(name)
		if ok && v != "" && name != "workspaceFolder" {
			h := hmac.New(sha256.New, f.Key)
			h.Write([]byte(name + "\x00" + v)) // a hash takes everything
			all[name] = hex.EncodeToString(h.Sum(nil))[:16]
		}
		return v, ok
	})
	return all
}

// takes looks up every variable that Expand would.
func (d Definition) takes(lookup func(name string) (string, bool)) {
	e := expansion{syntax: d.syntax(), lookup: lookup}
	for _, text := range slices.Concat([]string{d.Command, d.Dir, d.EnvFile, d.URL, d.Helper, d.OAuth.ClientID}, d.Args,
		slices.Collect(maps.Values(d.Env)), slices.Collect(maps.Values(d.Headers))) {
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
