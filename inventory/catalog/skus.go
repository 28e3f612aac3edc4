package catalog

// sku is what a vendor calls one build of a switch, and the chip in it.
type sku struct {
	name, asic string
	computes   bool // its software works headroom out by itself
	source     string
}

// BySKU is the chip of the SKU, spelt as the vendor spells it; nil where the SKU is not in the catalog. Nothing is taken
// from the look of a name. The row is the caller's.
func BySKU(name string) *ASIC {
	for _, list := range [][]sku{sonicSKUs, otherSKUs} {
		for _, s := range list {
			if s.name != name {
				continue
			}
			for _, row := range asics {
				if row.Name == s.asic {
					row.DeviceComputes = s.computes
					row.Source = s.source + "; " + row.Source
					return &row
				}
			}
		}
	}
	return nil
}

// SKUs are the names of all SKUs in the catalog, for suggestions.
func SKUs() []string {
	var names []string
	for _, list := range [][]sku{sonicSKUs, otherSKUs} {
		for _, s := range list {
			names = append(names, s.name)
		}
	}
	return names
}
