package catalog

import "github.com/weirfabric/weir/intent/qos"

// Headroom is one published row: what a switch of a SKU reserves for a lossless priority group at a speed and cable length.
type Headroom struct {
	SKU                     string
	Speed                   qos.Rate
	Cable                   qos.Metres
	Reserved, XON, Headroom qos.Bytes // SONiC's size, xon and xoff
}

// PublishedHeadroom is the row of a SKU for a speed and the shortest cable of its table that is not shorter than the one
// given. A SKU without a table, a speed without rows and a cable longer than all of them have none.
func PublishedHeadroom(sku string, speed qos.Rate, cable qos.Metres) (Headroom, bool) {
	var best Headroom
	for _, row := range published {
		if row.SKU == sku && row.Speed == speed && row.Cable >= cable && (best.SKU == "" || row.Cable < best.Cable) {
			best = row
		}
	}
	return best, best.SKU != ""
}

// HasPublishedHeadroom says whether the SKU has a table at all. A switch with a table looks its headroom up and reserves
// none where it finds no row (sonic-swss, cfgmgr/buffermgr.cpp).
func HasPublishedHeadroom(sku string) bool {
	for _, row := range published {
		if row.SKU == sku {
			return true
		}
	}
	return false
}

// PublishedSource is where the published rows were read.
const PublishedSource = "sonic-net/sonic-buildimage, device/mellanox/*/SKU/pg_profile_lookup.ini"

var published = []Headroom{
	{"ACS-MSN2700", 10e9, 5, 49152, 19456, 29696},
	{"ACS-MSN2700", 25e9, 5, 49152, 19456, 29696},
	{"ACS-MSN2700", 40e9, 5, 49152, 19456, 29696},
	{"ACS-MSN2700", 50e9, 5, 49152, 19456, 29696},
	{"ACS-MSN2700", 100e9, 5, 50176, 19456, 30720},
	{"ACS-MSN2700", 10e9, 40, 49152, 19456, 29696},
	{"ACS-MSN2700", 25e9, 40, 51200, 19456, 31744},
	{"ACS-MSN2700", 40e9, 40, 52224, 19456, 32768},
	{"ACS-MSN2700", 50e9, 40, 53248, 19456, 33792},
	{"ACS-MSN2700", 100e9, 40, 58368, 19456, 38912},
	{"ACS-MSN2700", 10e9, 300, 56320, 19456, 36864},
	{"ACS-MSN2700", 25e9, 300, 67584, 19456, 48128},
	{"ACS-MSN2700", 40e9, 300, 78848, 19456, 59392},
	{"ACS-MSN2700", 50e9, 300, 86016, 19456, 66560},
	{"ACS-MSN2700", 100e9, 300, 123904, 19456, 104448},
	{"ACS-MSN4700", 10e9, 5, 52224, 19456, 32768},
	{"ACS-MSN4700", 25e9, 5, 52224, 19456, 32768},
	{"ACS-MSN4700", 40e9, 5, 53248, 19456, 33792},
	{"ACS-MSN4700", 50e9, 5, 53248, 19456, 33792},
	{"ACS-MSN4700", 100e9, 5, 53248, 19456, 33792},
	{"ACS-MSN4700", 200e9, 5, 55296, 19456, 35840},
	{"ACS-MSN4700", 400e9, 5, 86016, 37888, 38912},
	{"ACS-MSN4700", 10e9, 40, 53248, 19456, 33792},
	{"ACS-MSN4700", 25e9, 40, 55296, 19456, 35840},
	{"ACS-MSN4700", 40e9, 40, 57344, 19456, 37888},
	{"ACS-MSN4700", 50e9, 40, 58368, 19456, 38912},
	{"ACS-MSN4700", 100e9, 40, 63488, 19456, 44032},
	{"ACS-MSN4700", 200e9, 40, 74752, 19456, 55296},
	{"ACS-MSN4700", 400e9, 40, 124928, 37888, 77824},
	{"ACS-MSN4700", 10e9, 300, 60416, 19456, 40960},
	{"ACS-MSN4700", 25e9, 300, 73728, 19456, 54272},
	{"ACS-MSN4700", 40e9, 300, 86016, 19456, 66560},
	{"ACS-MSN4700", 50e9, 300, 95232, 19456, 75776},
	{"ACS-MSN4700", 100e9, 300, 137216, 19456, 117760},
	{"ACS-MSN4700", 200e9, 300, 223232, 19456, 203776},
	{"ACS-MSN4700", 400e9, 300, 420864, 37888, 373760},
}
