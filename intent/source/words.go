package source

import (
	"fmt"
	"net/netip"
	"reflect"
	"regexp"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/weirfabric/weir/intent/qos"
)

// parser is how the text of a type outside this package is read.
type parser struct {
	want, pattern string
	read          func(text string, dst reflect.Value) error
}

func parse[T any](read func(string) (T, error), want, pattern string) parser {
	return parser{want, pattern, func(text string, dst reflect.Value) error {
		v, err := read(text)
		if err == nil {
			*dst.Addr().Interface().(*T) = v
		}
		return err
	}}
}

// parsers are the types with a unit or a spelling of their own.
var parsers = map[reflect.Type]parser{
	reflect.TypeFor[qos.Bytes]():      parse(qos.ParseBytes, "a size like 9216B, 150kB or 18KiB", `^[0-9]+(\.[0-9]+)?(B|kB|KiB|MB|MiB|GB|GiB)$`),
	reflect.TypeFor[qos.Rate]():       parse(qos.ParseRate, "a rate like 100G", `^[0-9]+(\.[0-9]+)?[MGT]$`),
	reflect.TypeFor[qos.Metres]():     parse(qos.ParseMetres, "a length like 5m or 2km", `^[0-9]+(\.[0-9]+)?k?m$`),
	reflect.TypeFor[qos.Percent]():    parse(qos.ParsePercent, "a share like 50%", `^[0-9]+(\.[0-9]+)?%$`),
	reflect.TypeFor[qos.AlphaShift](): parse(qos.ParseAlpha, "a power of two from 1/256 to 128, like 1/8", `^(1/)?[0-9]+$`),
	reflect.TypeFor[time.Duration]():  parse(qos.ParseDuration, "a duration like 200ms or 2s", `^([0-9]+(\.[0-9]+)?(ns|us|ms|s|m|h))+$`),
	reflect.TypeFor[time.Time]():      parse(parseDate, "a date like 2026-12-31", `^[0-9]{4}-[0-9]{2}-[0-9]{2}$`),
	reflect.TypeFor[netip.Prefix]():   parse(parsePrefix, "an address or subnet like 10.0.9.0/24", `^[0-9a-fA-F.:]+(/[0-9]+)?$`),
}

func parseDate(text string) (time.Time, error) {
	t, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return t, fmt.Errorf("%q is no date: write year, month and day, like 2026-12-31", text)
	}
	return t, nil
}

// parsePrefix reads a subnet, or an address as the subnet that holds nothing else.
func parsePrefix(text string) (netip.Prefix, error) {
	if a, err := netip.ParseAddr(text); err == nil && a.Zone() == "" {
		return netip.PrefixFrom(a, a.BitLen()), nil
	}
	p, err := netip.ParsePrefix(text)
	if err != nil {
		return p, fmt.Errorf("%q is no address or subnet: write it like 10.0.9.7 or 10.0.9.0/24", text)
	}
	if p != p.Masked() {
		return p, fmt.Errorf("%q has bits set behind the prefix: write %s, or the address alone", text, p.Masked())
	}
	return p, nil
}

// parsedScalar reads text whose pattern says how it is written; a bare number is text too where the pattern takes one.
func parsedScalar(p parser) *scalar {
	schema := map[string]any{"type": "string", "pattern": p.pattern}
	if regexp.MustCompile(p.pattern).MatchString("1") {
		schema["type"] = []string{"string", "integer"}
	}
	return &scalar{
		want: p.want, schema: schema,
		read: func(n *yaml.Node, dst reflect.Value) error { return p.read(n.Value, dst) },
	}
}
