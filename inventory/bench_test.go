package inventory

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
)

// thousandSwitches is the inventory of 1,000 switches of 64 ports and 32,000 links: a file of links for every ten switches, each
// link written out, and a file for every hundred switches.
func thousandSwitches() fstest.MapFS {
	const switches, ports = 1000, 64
	files := fstest.MapFS{}
	var b strings.Builder
	for i := range switches {
		if i%100 == 0 {
			b.Reset()
			b.WriteString("kind: Switches\ndefaults:\n  platform: sonic\n  sku: ACS-MSN4600C\n  role: leaf\n" +
				"  management: {address: \"{name}.example.net\", user: admin, password: env:WEIR_PASSWORD}\n" +
				"  ports: [{names: \"Ethernet[0-252/4]\", speed: 100G, lanes: 4}]\nswitches:\n")
		}
		fmt.Fprintf(&b, "  - {name: sw%d, labels: {rack: r%d}}\n", i, i/2)
		if i%100 == 99 {
			files[fmt.Sprintf("inventory/switches%d.yaml", i/100)] = &fstest.MapFile{Data: []byte(b.String())}
		}
	}
	for i := range switches / 2 {
		if i%10 == 0 {
			b.Reset()
			b.WriteString("kind: Links\nlinks:\n")
		}
		for p := range ports {
			fmt.Fprintf(&b, "  - {a: sw%d/Ethernet%d, b: sw%d/Ethernet%d, length: 30m, medium: fibre}\n", i, p*4, i+switches/2, p*4)
		}
		if i%10 == 9 {
			files[fmt.Sprintf("inventory/links/%d.yaml", i/10)] = &fstest.MapFile{Data: []byte(b.String())}
		}
	}
	return files
}

func BenchmarkLoad1000Devices(b *testing.B) {
	files := thousandSwitches()
	b.ReportAllocs()
	for b.Loop() {
		inv, findings := Load(files)
		if len(findings) > 0 || len(inv.Devices) != 1000 || len(inv.Links) != 32000 {
			b.Fatal(len(inv.Devices), len(inv.Links), findings)
		}
	}
}
