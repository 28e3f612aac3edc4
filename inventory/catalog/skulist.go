package catalog

// The sources of which chip is in a SKU.
const (
	// configFile: the names of the SDK's configuration begin with the chip: td2, td3, td4, th, th2, th3, th5, q3d.
	configFile = "sonic-net/sonic-buildimage, the name of the file *.config.bcm or *.config.yml in the SKU's folder in device/"
	noChip     = "sonic-net/sonic-buildimage, the SKU's folder in device/; no source that was read names the chip plainly"
	// sameHardware: EOS's model name of a switch for which SONiC publishes a hwsku.
	sameHardware = "EOS name of the hardware that SONiC's hwsku names; " + gcuASICs
)

// sonicSKUs are SONiC's hwskus. SONiC's buffer manager works headroom out from speed and cable length on all of them
// (sonic-swss, cfgmgr/buffermgr.cpp and buffermgrdyn.cpp). Where the source is asic_table.j2 the chip is that of the folder
// that the hwsku stands in.
var sonicSKUs = []build{
	{
		asic: "Spectrum", table: "ACS-MSN2700", source: gcuASICs,
		names: "ACS-MSN2010 ACS-MSN2100 ACS-MSN2410 ACS-MSN2700 ACS-MSN2700-A1 ACS-MSN2740",
	},
	{
		asic: "Spectrum", table: "ACS-MSN2700", source: sonicASICTable,
		names: "LS-SN2700",
	},
	{
		asic: "Spectrum", table: "ACS-SN2201", source: sonicASICTable,
		names: "ACS-SN2201",
	},
	{
		asic: "Spectrum", table: "Mellanox-SN2700-D40C8S8", source: gcuASICs,
		names: "Mellanox-SN2700-A1-D40C8S8 Mellanox-SN2700-A1-D44C10 Mellanox-SN2700-D40C8S8 Mellanox-SN2700-D44C10",
	},
	{
		asic: "Spectrum", table: "Mellanox-SN2700-D48C8", source: gcuASICs,
		names: "Mellanox-SN2700 Mellanox-SN2700-A1 Mellanox-SN2700-A1-C28D8 Mellanox-SN2700-A1-D48C8 Mellanox-SN2700-C28D8 " +
			"Mellanox-SN2700-D48C8",
	},
	{
		asic: "Spectrum-2", table: "ACS-MSN3700", source: gcuASICs,
		names: "ACS-MSN3420 ACS-MSN3700 ACS-MSN3700C",
	},
	{
		asic: "Spectrum-2", table: "ACS-MSN3800", source: gcuASICs,
		names: "ACS-MSN3800",
	},
	{
		asic: "Spectrum-2", table: "Mellanox-SN3800-D112C8", source: gcuASICs,
		names: "Mellanox-SN3800-C64 Mellanox-SN3800-D100C12S2 Mellanox-SN3800-D112C8 Mellanox-SN3800-D24C52 " +
			"Mellanox-SN3800-D28C49S1 Mellanox-SN3800-D28C50",
	},
	{
		asic: "Spectrum-3", table: "ACS-MSN4700", source: gcuASICs,
		names: "ACS-MSN4410 ACS-MSN4600 ACS-MSN4600C ACS-MSN4700",
	},
	{
		asic: "Spectrum-3", table: "ACS-MSN4700", source: sonicASICTable,
		names: "ACS-SN4800",
	},
	{
		asic: "Spectrum-3", table: "Mellanox-SN4600C-D112C8", source: gcuASICs,
		names: "Mellanox-SN4600C-C64 Mellanox-SN4600C-D100C12S2 Mellanox-SN4600C-D112C8 Mellanox-SN4600C-D48C40",
	},
	{
		asic: "Spectrum-3", table: "Mellanox-SN4600C-D24C52", source: sonicASICTable,
		names: "Mellanox-SN4600C-D24C52",
	},
	{
		asic: "Spectrum-3", table: "Mellanox-SN4700-C128", source: gcuASICs,
		names: "Mellanox-SN4700-A96C8V8 Mellanox-SN4700-C128 Mellanox-SN4700-O28 Mellanox-SN4700-O8V48 " +
			"Mellanox-SN4700-V48C32",
	},
	{
		asic: "Spectrum-3", table: "Mellanox-SN4700-O8C48", source: gcuASICs,
		names: "Mellanox-SN4280-O28 Mellanox-SN4280-O4X96 Mellanox-SN4280-O8C80 Mellanox-SN4700-O32 Mellanox-SN4700-O8C48 " +
			"Mellanox-SN4700-V64",
	},
	{
		asic: "Spectrum-3", source: gcuASICs,
		names: "ACS-SN4280",
	},
	{
		asic: "Spectrum-3", source: gcuASICs,
		names: "Mellanox-SN4280-C48 Mellanox-SN4280-O8C40 Mellanox-SN4280-O8V40",
	},
	{
		asic: "Spectrum-4", table: "ACS-SN5600", source: gcuASICs,
		names: "ACS-SN5400 ACS-SN5600 Mellanox-SN5600-O128",
	},
	{
		asic: "Spectrum-4", table: "Mellanox-SN5600-C224O8", source: gcuASICs,
		names: "Mellanox-SN5600-C224O8 Mellanox-SN5610N-C224O8 Mellanox-SN5610N-C256S2",
	},
	{
		asic: "Spectrum-4", table: "Mellanox-SN5600-C256S1", source: gcuASICs,
		names: "Mellanox-SN5600-C256S1",
	},
	{
		asic: "Spectrum-4", table: "Mellanox-SN5600-V256", source: gcuASICs,
		names: "Mellanox-SN5600-V256",
	},
	{
		asic: "Spectrum-5", table: "Mellanox-SN5640-C448O16", source: gcuASICs,
		names: "Mellanox-SN5640-C448O16 Mellanox-SN5640-C512S2",
	},
	{
		asic: "Spectrum-5", source: gcuASICs,
		names: "ACS-SN5640",
	},
	{
		asic: "Spectrum-5", source: gcuASICs,
		names: "Mellanox-SN5640-C508O1X2 Mellanox-SN5640-C512X2 Mellanox-SN5640-O128X2",
	},
	{
		asic: "Spectrum-6", table: "ACS-SN6810_LD", source: gcuASICs,
		names: "ACS-SN6600_LD ACS-SN6810_LD Mellanox-SN6600_LD-P128C2 Mellanox-SN6600_LD-P64O128C2",
	},
	{
		asic: "Trident II", source: configFile,
		names: "Arista-7050-QX32-Flex Arista-7050QX-32S-S4Q31 Force10-S6000-Q20S48 Force10-S6000-Q28S16 Force10-S6000-Q32",
	},
	{
		asic: "Trident II", source: gcuASICs,
		names: "Arista-7050-QX-32S Arista-7050-QX32 Arista-7050QX32S-Q32 Force10-S6000 Force10-S6000-Q24S32 Nexus-3164",
	},
	{
		asic: "Trident 3", table: "Arista-7050CX3-32S-C28S4", source: gcuASICs,
		names: "Arista-7050CX3-32C-C28S4 Arista-7050CX3-32S-C28S4",
	},
	{
		asic: "Trident 3", table: "Arista-7050CX3-32S-C32", source: gcuASICs,
		names: "Arista-7050CX3-32C-C32 Arista-7050CX3-32S-C32 Arista-7050CX3-32S-D48C8",
	},
	{
		asic: "Trident 3", table: "DellEMC-S5232f-C8D48", source: configFile,
		names: "DellEMC-S5224f-P-25G DellEMC-S5232f-C32 DellEMC-S5232f-C8D48 DellEMC-S5232f-P-100G DellEMC-S5232f-P-10G " +
			"DellEMC-S5232f-P-25G",
	},
	{
		asic: "Trident 3", table: "Force10-Z9100", source: configFile,
		names: "DellEMC-S5212f-P-25G",
	},
	{
		asic: "Trident 3", source: configFile,
		names: "Arista-7050SX3-48C8 Arista-7050SX3-48YC8 DELLEMC-N3248PXE DS3000 Seastone_2",
	},
	{
		asic: "Trident 4", source: configFile,
		names: "DellEMC-S5448f-C48O8",
	},
	{
		asic: "Trident 4", source: gcuASICs,
		names: "Nokia-IXR7220-D4-36D",
	},
	{
		asic: "Tomahawk", table: "Arista-7060CX-32S", source: configFile,
		names: "Arista-7060CX-32S Arista-7060CX-32S-Q24C8 Arista-7060CX-32S-Q32 Celestica-DX010-D48C8",
	},
	{
		asic: "Tomahawk", table: "Arista-7060CX-32S", source: gcuASICs,
		names: "Arista-7060CX-32S-C32 Arista-7060CX-32S-C32-T1 Arista-7060CX-32S-D48C8 Celestica-DX010-C32",
	},
	{
		asic: "Tomahawk", table: "Force10-Z9100", source: configFile,
		names: "Force10-Z9100 Force10-Z9100-C32 Force10-Z9100-C8D48",
	},
	{
		asic: "Tomahawk", source: configFile,
		names: "Force10-S6100-T1",
	},
	{
		asic: "Tomahawk", source: gcuASICs,
		names: "Force10-S6100 Seastone-DX010",
	},
	{
		asic: "Tomahawk 2", table: "Arista-7260CX3-C64", source: configFile,
		names: "Arista-7260CX3-D92C16",
	},
	{
		asic: "Tomahawk 2", table: "Arista-7260CX3-C64", source: gcuASICs,
		names: "Arista-7260CX3-C64 Arista-7260CX3-D108C10 Arista-7260CX3-D108C8 Arista-7260CX3-Q44 Arista-7260CX3-Q64",
	},
	{
		asic: "Tomahawk 2", table: "DellEMC-Z9264f-C64", source: configFile,
		names: "DellEMC-Z9264f-C64 DellEMC-Z9264f-C8D112 DellEMC-Z9264f-Q64",
	},
	{
		asic: "Tomahawk 2", source: configFile,
		names: "Arista-7260CX3-D96C16",
	},
	{
		asic: "Tomahawk 3", source: configFile,
		names: "DellEMC-Z9332f-M-O16C64 DellEMC-Z9332f-O32 Silverstone_v2 Silverstone_v2_128X100G",
	},
	{
		asic: "Tomahawk 3", source: gcuASICs,
		names: "Nokia-IXR7220-H3",
	},
	{
		asic: "Tomahawk 4", table: "DellEMC-Z9664f-O64", source: configFile,
		names: "DellEMC-Z9664f-O64",
	},
	{
		asic: "Tomahawk 4", table: "Nokia-IXR7220-H4-64D", source: gcuASICs,
		names: "Nokia-IXR7220-H4-32D Nokia-IXR7220-H4-64D",
	},
	{
		asic: "Tomahawk 5", table: "Arista-7060X6-64PE-B-P64", source: configFile,
		names: "Arista-7060X6-64PE-B-P64",
	},
	{
		asic: "Tomahawk 5", table: "Arista-7060X6-64PE-O128S2", source: configFile,
		names: "Arista-7060X6-64PE-O128S2",
	},
	{
		asic: "Tomahawk 5", table: "Nokia-IXR7220-H5-64D", source: gcuASICs,
		names: "Nokia-IXR7220-H5-32D Nokia-IXR7220-H5-64D Nokia-IXR7220-H5-64O",
	},
	{
		asic: "Tomahawk 5", source: configFile,
		names: "Arista-7060X6-16PE-384C-B-O128S2-FANOUT Arista-7060X6-16PE-384C-B-O128S2-LAB " +
			"Arista-7060X6-16PE-384C-B-O128S4 Arista-7060X6-16PE-384C-O128S2 Arista-7060X6-16PE-384C-O128S2-FANOUT " +
			"Arista-7060X6-16PE-384C-O128S2-LAB Arista-7060X6-32PE Arista-7060X6-64DE-64x400G " +
			"Arista-7060X6-64DE-O128S2 Arista-7060X6-64PE-256x200G Arista-7060X6-64PE-64x400G " +
			"Arista-7060X6-64PE-B-C448O16 Arista-7060X6-64PE-B-C512S2 Arista-7060X6-64PE-B-O128 " +
			"Arista-7060X6-64PE-B-O128S2 Arista-7060X6-64PE-B-P28O72 Arista-7060X6-64PE-B-P32O64 " +
			"Arista-7060X6-64PE-B-P32V128 Arista-7060X6-64PE-P32O64 Arista-7060X6-64PE-P64",
	},
	{
		asic: "Tomahawk 5", source: gcuASICs,
		names: "Arista-7060X6-16PE-384C-B-O128S2 Arista-7060X6-64DE Arista-7060X6-64PE Arista-7060X6-64PE-C224O8 " +
			"Arista-7060X6-64PE-C256S2",
	},
	{
		asic: "Tomahawk 6", table: "Nokia-IXR7220-H5-64D", source: gcuASICs,
		names: "Nokia-IXR7220-H6-64",
	},
	{
		asic: "Tomahawk 6", source: gcuASICs,
		names: "Nokia-IXR7220-H6-O256 Nokia-IXR7220-H6-P128",
	},
	{
		asic: "Jericho 2", table: "Nokia-IXR7250E-36x100G", source: gcuASICs,
		names: "Arista-7800R3-48CQ2-C48 Arista-7800R3-48CQM2-C48",
	},
	{
		asic: "Jericho 2C+", table: "Arista-7280DR3A-36", source: gcuASICs,
		names: "Nokia-IXR7250-X3B",
	},
	{
		asic: "Jericho 2C+", table: "Nokia-IXR7250E-36x100G", source: gcuASICs,
		names: "Arista-7800R3A-36DM2-D36 Nokia-IXR7250E-36x100G Nokia-IXR7250E-36x400G",
	},
	{
		asic: "Qumran 3D", table: "Arista-7280R4-32QF-32DF-64O", source: gcuASICs,
		names: "Arista-7280R4-32QF-32DF-64O Arista-7280R4K-32QF-32DF-64O",
	},
	{
		asic: "Qumran 3D", table: "Nokia-IXR7250E-36x100G", source: configFile,
		names: "Nokia-IXR7250-X4",
	},
	{
		table: "Arista-7050CX3-32S-C32", source: noChip,
		names: "Arista-7050CX3-32C-D48C8",
	},
	{
		table: "Arista-7060CX-32S", source: noChip,
		names: "Arista-7060CX2-32S-C32",
	},
	{
		table: "Arista-7280DR3A-36", source: noChip,
		names: "Arista-7280DR3A-36 Arista-7280DR3AK-36 Arista-7280DR3AK-36S Arista-7280DR3AM-36",
	},
	{
		table: "Dell-Z9864f-O64", source: noChip,
		names: "Dell-Z9864f-O64",
	},
}

// otherSKUs are models of switches whose software does not work headroom out by itself.
var otherSKUs = []build{
	{asic: "Trident II", source: dcqcnPaper, names: "DCS-7050QX-32"},
	{asic: "Trident II", source: sameHardware, names: "DCS-7050QX-32S"},
	{asic: "Trident 3", source: sameHardware, names: "DCS-7050CX3-32S"},
	{asic: "Tomahawk", source: sameHardware, names: "DCS-7060CX-32S"},
	{asic: "Tomahawk 2", source: sameHardware, names: "DCS-7260CX3-64"},
	{asic: "Tomahawk 5", source: sameHardware, names: "DCS-7060X6-64DE DCS-7060X6-64PE"},
}
