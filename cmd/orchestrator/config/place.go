package config

import (
	"fmt"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// places are where the keys of a TOML file begin: "line:column", both from 1.
type places map[string]string

// placesOf finds the keys of a file that can be parsed.
func placesOf(content []byte) places {
	all := places{}
	var p unstable.Parser
	p.Reset(content)
	var table []string
	for p.NextExpression() {
		switch e := p.Expression(); e.Kind {
		case unstable.Table, unstable.ArrayTable:
			table = all.add(&p, nil, e)
		case unstable.KeyValue:
			all.add(&p, table, e)
		default:
		}
	}
	return all
}

// add adds the keys of an expression below a table, and of the tables in it. It returns its whole path.
func (all places) add(p *unstable.Parser, path []string, e *unstable.Node) []string {
	path = path[:len(path):len(path)]
	for it := e.Key(); it.Next(); {
		path = append(path, string(it.Node().Data))
		at := p.Shape(it.Node().Raw).Start
		if id := strings.Join(path, "\x00"); all[id] == "" {
			all[id] = fmt.Sprintf("%d:%d", at.Line, at.Column)
		}
	}
	if e.Kind != unstable.KeyValue {
		return path
	}
	if v := e.Value(); v.Kind == unstable.InlineTable {
		for it := v.Children(); it.Next(); {
			all.add(p, path, it.Node())
		}
	}
	return path
}

// of returns where a key begins, or the innermost table around it that is there.
func (all places) of(path []string) string {
	for ; len(path) > 0; path = path[:len(path)-1] {
		if at := all[strings.Join(path, "\x00")]; at != "" {
			return at
		}
	}
	return "1:1"
}
