package catalog

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/intent/diag"
)

func TestTheNextLongerCableOfATableIsTaken(t *testing.T) {
	table := Builtin().Table("ACS-MSN2700")
	got, ok := table.Find(100e9, 12)
	want := Headroom{Speed: 100e9, Cable: 40, Reserved: 58368, XON: 19456, Headroom: 38912}
	if !ok {
		t.Fatal("no row")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got, _ := table.Find(100e9, 40); got.Cable != 40 {
		t.Errorf("a cable as long as a row's takes that of %s", got.Cable)
	}
	if _, ok := table.Find(100e9, 301); ok {
		t.Error("a cable longer than all of the table has a row")
	}
	if _, ok := table.Find(200e9, 5); ok {
		t.Error("a speed that the table does not have has a row")
	}
	if Builtin().Table("DCS-7050QX-32") != nil {
		t.Error("a SKU without a table has one")
	}
	var none *Table
	if _, ok := none.Find(100e9, 5); ok {
		t.Error("no table has a row")
	}
}

func TestATableIsReadWithAllOfItsColumns(t *testing.T) {
	table, findings := ParseTable("leaf.ini", []byte("# speed cable size xon xoff threshold xon_offset\n\n 400000\t300m 18796  0 839216 -2 3556 # far\r\n800000 5m 8636 0 724662 0\n"))
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	want := []Headroom{
		{Speed: 400e9, Cable: 300, Reserved: 18796, Headroom: 839216, Threshold: -2, XONOffset: 3556},
		{Speed: 800e9, Cable: 5, Reserved: 8636, Headroom: 724662},
	}
	if diff := cmp.Diff(want, table.Rows); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestALineThatCannotBeReadNamesItsColumn(t *testing.T) {
	for line, want := range map[string]diag.Pos{
		"100000 5m 1248 2288":               {File: "t", Line: 2, Column: 1},
		"100000 40 1248 2288 37024 0":       {File: "t", Line: 2, Column: 8},
		"100000 5m 1248 -1 37024 0":         {File: "t", Line: 2, Column: 16},
		"100000 5m 1248 2288 0 0":           {File: "t", Line: 2, Column: 21},
		"0 5m 1248 2288 37024 0":            {File: "t", Line: 2, Column: 1},
		"100000 5m 1248 2288 37024 0 1 2":   {File: "t", Line: 2, Column: 1},
		"100000 5m 99999999999999 1 2 0":    {File: "t", Line: 2, Column: 11},
		"100000 5m 1248 2288 37024 alpha 1": {File: "t", Line: 2, Column: 27},
	} {
		table, findings := ParseTable("t", []byte("10000 5m 1248 2288 37024 0\n"+line+"\n"))
		if len(findings) != 1 || findings[0].At[0] != want || len(table.Rows) != 1 {
			t.Errorf("%q: got %d rows and %v, want one finding at %s", line, len(table.Rows), findings, want)
		}
	}
}

func FuzzATableIsReadOrItsFaultsAreFound(f *testing.F) {
	f.Add("100000 5m 1248 2288 37024 0\n100000 40m 1 2 3 -4 5 # x\n\x00 #\n")
	f.Fuzz(func(t *testing.T, text string) {
		table, findings := ParseTable("t", []byte(text))
		for _, d := range findings {
			if d.At[0].Line < 1 || d.At[0].Column < 1 || d.Summary == "" {
				t.Errorf("a finding without a place: %+v", d)
			}
		}
		for _, row := range table.Rows {
			if got, ok := table.Find(row.Speed, row.Cable); !ok || got != row {
				t.Errorf("%+v is found as %+v", row, got)
			}
		}
	})
}

func TestEveryBuiltinTableIsReadCitedAndUsed(t *testing.T) {
	used := map[string]bool{}
	for _, rows := range [][]build{sonicSKUs, otherSKUs} {
		for _, b := range rows {
			if b.table == "" {
				continue
			}
			used["tables/"+b.table+".ini"] = true
			table := builtinTable(b.table)
			if len(table.Rows) == 0 {
				t.Errorf("%s has no rows", b.table)
			}
			if !strings.HasPrefix(table.Source, "sonic-net/sonic-buildimage, device/") || !strings.HasSuffix(table.Source, "/pg_profile_lookup.ini") {
				t.Errorf("%s cites %q", b.table, table.Source)
			}
		}
	}
	files, err := fs.Glob(tables, "tables/*.ini")
	if err != nil || len(files) < 30 {
		t.Fatal(len(files), err)
	}
	rows := map[string]string{}
	for _, file := range files {
		if !used[file] {
			t.Errorf("%s belongs to no SKU", file)
		}
		body, err := tables.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, text, _ := strings.Cut(string(body), "\n")
		if other := rows[text]; other != "" {
			t.Errorf("%s holds the rows of %s", file, other)
		}
		rows[text] = file
	}
}

func TestATableIsTheCallersOwn(t *testing.T) {
	Builtin().Table("ACS-MSN2700").Rows[0].Headroom = 1
	if Builtin().Table("ACS-MSN2700").Rows[0].Headroom == 1 {
		t.Error("a caller changed the catalog")
	}
}
