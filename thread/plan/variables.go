package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// maxValue is the most bytes of a variable's value.
const maxValue = 64 << 10

// Values returns the values of all variables of a plan: those that are given, the defaults of others. What is wrong is
// found: a name that the plan does not have, one that is not given and has no default, and a value of another type.
func Values(p Plan, given map[string]json.RawMessage) (map[string]json.RawMessage, []Finding) {
	values := make(map[string]json.RawMessage, len(p.Variables))
	var problems []Finding
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if _, ok := p.Variables[name]; !ok {
			do := "The plan has no variables."
			if len(p.Variables) > 0 {
				do = "It has: " + excerptList(slices.Sorted(maps.Keys(p.Variables))) + "."
			}
			problems = append(problems, Finding{Wrong, "", fmt.Sprintf("the plan has no variable %q", excerpt(name)), do})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Variables)) {
		v := p.Variables[name]
		value, ok := given[name]
		switch {
		case !ok && len(v.Default) == 0:
			problems = append(problems, Finding{Wrong, "", fmt.Sprintf("the variable %s has no value", excerpt(name)),
				fmt.Sprintf("Give it with --var %s=VALUE, or give it a default.", excerpt(name))})
		case !ok:
			values[name] = v.Default
		default:
			if fault := v.fault(value); fault != "" {
				problems = append(problems, Finding{Wrong, "", fmt.Sprintf("the variable %s: %s", excerpt(name), fault), "Give it another value."})
			}
			values[name] = value
		}
	}
	return values, problems
}

// ReadValue reads a value as a person types it.
func ReadValue(v Variable, typed string) json.RawMessage {
	switch v.Type {
	case VarNumber, VarInteger, VarBool:
		if value := json.RawMessage(strings.TrimSpace(typed)); json.Valid(value) {
			return value
		}
	case VarString, VarChoice, "":
	}
	return Quote(typed)
}

// Plain returns a value as a prompt has it: a string's text, and all else as JSON.
func Plain(value json.RawMessage) string {
	var text string
	if err := json.Unmarshal(value, &text); err == nil && len(bytes.TrimSpace(value)) > 0 && bytes.TrimSpace(value)[0] == '"' {
		return text
	}
	return string(bytes.TrimSpace(value))
}

// fault says what keeps a value from being one of the variable's type; "" for nothing.
func (v Variable) fault(value json.RawMessage) string {
	if len(value) > maxValue {
		return fmt.Sprintf("its value has %d bytes, and %d is the most", len(value), maxValue)
	}
	d := json.NewDecoder(bytes.NewReader(value))
	d.UseNumber()
	var got any
	if err := d.Decode(&got); err != nil || !json.Valid(value) {
		return "its value is no JSON"
	}
	switch v.Type {
	case "", VarString, VarChoice:
		s, ok := got.(string)
		if !ok {
			return "its value is no text"
		}
		if v.Type == VarChoice && !slices.Contains(v.Choices, s) {
			return fmt.Sprintf("%q is none of %s", excerpt(s), excerptList(v.Choices))
		}
	case VarNumber, VarInteger:
		n, ok := got.(json.Number)
		if !ok {
			return "its value is no number"
		}
		if _, err := strconv.ParseFloat(n.String(), 64); err != nil {
			return "its value is no number that can be worked with"
		}
		if _, err := strconv.ParseInt(n.String(), 10, 64); err != nil && v.Type == VarInteger {
			return "its value is no whole number"
		}
	case VarBool:
		if _, ok := got.(bool); !ok {
			return "its value is neither true nor false"
		}
	}
	return ""
}

// checkVariables looks at the variables that a plan says there are.
func checkVariables(p Plan) (problems []Finding) {
	if n := len(p.Variables); n > MaxVariables {
		return []Finding{{Wrong, "", fmt.Sprintf("the plan has %d variables", n), fmt.Sprintf("Give it %d at most.", MaxVariables)}}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Variables)) {
		v := p.Variables[name]
		wrong := func(text, do string) {
			problems = append(problems, Finding{Wrong, "", fmt.Sprintf("the variable %s: %s", excerpt(name), text), do})
		}
		if !validName(name) {
			wrong("its name cannot be used", "Name it with letters, digits, - and _, beginning with a letter or digit.")
		}
		if len(v.Description) > MaxText {
			wrong("its description is too long", fmt.Sprintf("Write %d bytes at most.", MaxText))
		}
		switch v.Type {
		case "", VarString, VarNumber, VarInteger, VarBool:
			if len(v.Choices) > 0 {
				wrong("it has choices, but is no choice", `Write type = "choice", or leave the choices out.`)
			}
		case VarChoice:
			if len(v.Choices) == 0 || len(v.Choices) > MaxPatterns {
				wrong("it is a choice of none", fmt.Sprintf("Give it 1 to %d choices.", MaxPatterns))
			}
		default:
			wrong(fmt.Sprintf("the type %q is none", excerpt(string(v.Type))), "Write string, number, integer, boolean or choice.")
			continue
		}
		if len(v.Default) > 0 {
			if fault := v.fault(v.Default); fault != "" {
				wrong("its default: "+fault, "Give it another default.")
			}
		}
	}
	return problems
}
