package catalog

import (
	"slices"
	"strings"
)

// build is what the SKUs of one built-in row have in common. Its table is the name of a file in tables/, without the ending;
// empty: none was found. SKUs whose published tables hold the same rows share one file.
type build struct{ asic, table, source, names string }

// SKU is the row of a SKU, spelt as the vendor spells it; false where it is not in the catalog. Nothing is taken from the
// look of a name.
func (c *Catalog) SKU(name string) (SKU, bool) {
	row, table, ok := c.row(name)
	if table != "" {
		row.Table = builtinTable(table)
		row.Table.Name = name
	}
	return row, ok
}

// row is the row of a SKU; a table of the catalog itself is only named, since reading one takes longer than all the rest.
func (c *Catalog) row(name string) (row SKU, table string, ok bool) {
	if c != nil {
		if row, ok := find(c.skus, func(r SKU) bool { return r.Name == name }); ok {
			return row, "", true
		}
	}
	for list, rows := range [][]build{sonicSKUs, otherSKUs} {
		for i := range rows {
			b := &rows[i]
			if slices.Contains(strings.Fields(b.names), name) {
				return SKU{Name: name, ASIC: b.asic, Computes: list == 0, Updater: b.source == gcuASICs, Source: b.source}, b.table, true
			}
		}
	}
	return SKU{}, "", false
}

// BySKU is the chip of the SKU; nil where the SKU is not in the catalog. A SKU whose chip no source names has a row without a
// name, of which nothing else is known. The row is the caller's.
func (c *Catalog) BySKU(name string) *ASIC {
	s, _, ok := c.row(name)
	if !ok {
		return nil
	}
	row, _ := c.ASIC(s.ASIC)
	row.DeviceComputes = s.Computes
	row.Source = strings.TrimSuffix(s.Source+"; "+row.Source, "; ")
	return &row
}

// ASIC is the row of a chip; false where it is not in the catalog.
func (c *Catalog) ASIC(name string) (ASIC, bool) {
	named := func(r ASIC) bool { return r.Name == name }
	if c != nil {
		if row, ok := find(c.asics, named); ok {
			return row, true
		}
	}
	return find(asics, named)
}

// find is the first row that is it.
func find[T any](rows []T, is func(T) bool) (row T, ok bool) {
	if i := slices.IndexFunc(rows, is); i >= 0 {
		return rows[i], true
	}
	return row, false
}

// Table is the published headroom of a SKU; nil where none is known.
func (c *Catalog) Table(sku string) *Table {
	row, _ := c.SKU(sku)
	return row.Table
}

// SKUs are the names of all SKUs in the catalog, for suggestions.
func (c *Catalog) SKUs() []string {
	var names []string
	for _, rows := range [][]build{sonicSKUs, otherSKUs} {
		for i := range rows {
			names = append(names, strings.Fields(rows[i].names)...)
		}
	}
	if c != nil {
		for _, row := range c.skus {
			if !slices.Contains(names, row.Name) {
				names = append(names, row.Name)
			}
		}
	}
	return names
}

// ASICs are the names of all chips in the catalog, for suggestions.
func (c *Catalog) ASICs() []string {
	var names []string
	for i := range asics {
		names = append(names, asics[i].Name)
	}
	if c != nil {
		for _, row := range c.asics {
			if !slices.Contains(names, row.Name) {
				names = append(names, row.Name)
			}
		}
	}
	return names
}
