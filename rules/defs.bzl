"""The public rules of rules_offload.

    load("@rules_offload//rules:defs.bzl", "offload_binary")
"""

load("//rules/private:device_cdylib.bzl", _device_cdylib = "device_cdylib")
load("//rules/private:device_image.bzl", _device_image = "device_image")
load("//rules/private:offload_audit_test.bzl", _offload_audit_test = "offload_audit_test")
load("//rules/private:offload_binary.bzl", _offload_binary = "offload_binary")
load("//rules/private:offload_library.bzl", _offload_library = "offload_library")
load(
    ":providers.bzl",
    _AssemblerToolchainInfo = "AssemblerToolchainInfo",
    _DeviceImageInfo = "DeviceImageInfo",
    _DeviceToolchainInfo = "DeviceToolchainInfo",
    _PtxPolicyInfo = "PtxPolicyInfo",
)

device_cdylib = _device_cdylib
device_image = _device_image
offload_audit_test = _offload_audit_test
offload_binary = _offload_binary
offload_library = _offload_library

AssemblerToolchainInfo = _AssemblerToolchainInfo
DeviceImageInfo = _DeviceImageInfo
DeviceToolchainInfo = _DeviceToolchainInfo
PtxPolicyInfo = _PtxPolicyInfo
