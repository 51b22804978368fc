// SPDX-License-Identifier: Apache-2.0
//
// The build options of the shared kernel files for given dtypes. Types have OpenCL C names; other
// languages define them (kernels_cu/language.cu).
#pragma once

#include <cstdint>
#include <string>

#include "sdk/device_layer/convolution_plan.hpp"
#include "sdk/device_layer/description.hpp"
#include "sdk/ordering.hpp"
#include "sdk/validate_operator.hpp"

namespace tutti::sdk {

std::string fft_options(const device_description& device, bool is_f64);
/// A pass with this factor on a GPU.
std::string fft_pass_options(const device_description& device, bool is_f64, uint32_t radix);
std::string take_options(const device_description& device, int32_t dtype, int32_t index);
std::string scatter_options(const device_description& device, int32_t dtype, int32_t index,
                            combination how, bool compensated = false);
/// Searches in `dtype`, or counts and positions of `dtype`.
std::string search_options(const device_description& device, int32_t dtype);
std::string count_options(const device_description& device, int32_t dtype);
std::string partition_options(const device_description& device, const partition_plan& plan,
                              int32_t dtype);
/// The vector width and the tile rows follow from the CPU.
std::string convolution_options(const device_description& device, int32_t dtype);  // of CPUs
std::string convolution_options(const device_description& device, int32_t dtype,
                                const convolution_form& form);  // of GPUs
/// `rows`: of scan_plan.
std::string scan_options(const device_description& device, int32_t out, int32_t in, int32_t scan,
                         bool rows);
/// Elements of `dtype`, columns of type `index`.
std::string number_options(const device_description& device,
                           int32_t dtype);  // of numbers_shared.cl
std::string spmm_options(const device_description& device, int32_t dtype, int32_t index);
std::string sort_options(const device_description& device, const sort_plan& plan, int32_t dtype);

}  // namespace tutti::sdk
