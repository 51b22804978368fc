// SPDX-License-Identifier: Apache-2.0
//
// Pictures in files: those of make_image_vectors.py, which packs PNG by itself and leaves JPEG to
// Pillow; what is written, read again; and damage.
#include "tutti/data/image_files.hpp"
#include "tutti/data/io.hpp"
#include "tutti_test/arrays.hpp"
#include "tutti_test/data.hpp"

namespace image = tutti::image;
using format = image::file_format;

namespace {

const std::filesystem::path vectors = data(paths::vectors);
constexpr std::int64_t height = 11, width = 13;

// As values() of make_image_vectors.py.
template <class T = std::uint8_t>
std::vector<T> values(int channels, int most = std::numeric_limits<T>::max(), int times = 1) {
  std::vector<T> out;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int c = 0; c < channels; ++c)
        out.push_back(T((y * 3101 + x * 177 + c * 20011 + y * x * 7) % (most + 1) * times));
  return out;
}

template <class T>
array picture(int channels) {
  return array::from(values<T>(channels), {height, width, channels});
}

template <class T>
void check_values(const array& got, const std::vector<T>& expected, int channels) {
  BOOST_TEST((got.shape() == shape{height, width, channels}), got.shape().str());
  BOOST_TEST((got.dtype() == tutti::dtype_of<T>));
  BOOST_TEST(got.to_vector<T>() == expected, same);
}

int largest_difference(const std::vector<std::uint8_t>& a, const std::vector<std::uint8_t>& b) {
  BOOST_TEST_REQUIRE(a.size() == b.size());
  int most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}

std::vector<std::uint8_t> smooth() {
  std::vector<std::uint8_t> out;
  for (int y = 0; y < 24; ++y)
    for (int x = 0; x < 40; ++x)
      for (int v : {x * 5 + 20, y * 8 + 30, 220 - x * 2 - y * 3}) out.push_back(std::uint8_t(v));
  return out;
}

array load(const std::string& name) { return image::read_image(vectors / name); }

auto decoding(const std::string& bytes) {
  return [bytes] { image::decode_image(bytes); };
}

// The grey picture as one of three components, whose scans come one after the other, the first one
// `count` times.
std::string of_many_scans(int count) {
  std::string bytes = read_bytes(vectors / "grey.jpg");
  const std::size_t frame = bytes.find("\xff\xc0");
  std::string header = bytes.substr(frame, 9);
  header[3] = 17;
  for (char component = 1; component <= 3; ++component) {
    if (component == 1) header += '\3';
    header += std::string{component, '\x11', '\0'};
  }
  bytes.replace(frame, 2 + 11, header);
  const std::size_t scan = bytes.find("\xff\xda");
  std::string one = bytes.substr(scan, bytes.size() - 2 - scan);
  bytes.resize(scan);
  for (int i = 0; i < count; ++i) bytes += one;
  for (const char component : {'\2', '\3'}) {
    one[5] = component;
    bytes += one;
  }
  return bytes + "\xff\xd9";
}

constexpr const char* jpegs[] = {"grey.jpg", "full.jpg", "halved.jpg", "progressive.jpg"};
constexpr const char* pngs[] = {"c1_8.png",   "c4_16.png",           "interlaced_16.png",
                                "grey_1.png", "palette_opacity.png", "key.png"};

}  // namespace

BOOST_AUTO_TEST_CASE(png_of_each_depth_and_channels) {
  for (int channels = 1; channels <= 4; ++channels) {
    const std::string start = "c" + std::to_string(channels);
    check_values(load(start + "_8.png"), values(channels), channels);
    check_values(load(start + "_16.png"), values<std::uint16_t>(channels), channels);
  }
  check_values(load("interlaced_16.png"), values<std::uint16_t>(3), 3);
  check_values(load("grey_1.png"), values(1, 1, 255), 1);
  check_values(load("grey_2.png"), values(1, 3, 85), 1);
  check_values(load("grey_4.png"), values(1, 15, 17), 1);
  check_values(load("profile.png"), values(1), 1);
}

BOOST_AUTO_TEST_CASE(png_of_palettes_and_transparent_colours) {
  std::vector<std::uint8_t> colours, with_opacity;
  for (const std::uint8_t i : values(1, 15)) {
    const std::uint8_t opacity = i == 0 ? 0 : i == 1 ? 100 : i == 2 ? 200 : 255;
    for (int v : {16 * i + 3, 9 * i + 80, 5 * i + 150}) {
      colours.push_back(std::uint8_t(v));
      with_opacity.push_back(std::uint8_t(v));
    }
    with_opacity.push_back(opacity);
  }
  check_values(load("palette.png"), colours, 3);
  check_values(load("palette_opacity.png"), with_opacity, 4);

  const std::vector<std::uint8_t> all = values(3);
  const std::size_t key = (4 * width + 6) * 3;
  std::vector<std::uint8_t> keyed;
  for (std::size_t i = 0; i < all.size(); i += 3) {
    keyed.insert(keyed.end(), {all[i], all[i + 1], all[i + 2]});
    keyed.push_back(std::equal(&all[i], &all[i] + 3, &all[key]) ? 0 : 255);
  }
  check_values(load("key.png"), keyed, 4);
}

// Decoders of JPEG may differ by one.
BOOST_AUTO_TEST_CASE(jpeg_as_pillow_sees_it) {
  for (const std::string name : {"grey", "full", "halved", "progressive"}) {
    BOOST_TEST_CONTEXT(name) {
      const array got = load(name + ".jpg"),
                  expected = tutti::io::load_npy(vectors / (name + ".npy"));
      BOOST_TEST((got.shape() == expected.shape()), got.shape().str());
      BOOST_TEST(largest_difference(got.to_vector<std::uint8_t>(),
                                    expected.to_vector<std::uint8_t>()) <= 1);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_is_written_is_read) {
  const temporary_folder folder;
  const auto round_trip = [&](const array& a, const char* name, image::write_options options = {}) {
    image::write_image(folder / name, a, options);
    return image::read_image(folder / name);
  };
  for (int channels = 1; channels <= 4; ++channels) {
    check_values(round_trip(picture<std::uint8_t>(channels), "a.PNG"), values(channels), channels);
    check_values(round_trip(picture<std::uint16_t>(channels), "b.png", {.compression = 0}),
                 values<std::uint16_t>(channels), channels);
    if (channels % 2 == 0) continue;
    check_values(round_trip(picture<std::uint8_t>(channels), "a.ppm"), values(channels), channels);
    check_values(round_trip(picture<std::uint16_t>(channels), "a.pgm"),
                 values<std::uint16_t>(channels), channels);
  }
  check_values(round_trip(picture<std::uint8_t>(1).reshape({height, width}), "a.png"), values(1),
               1);
  check_values(round_trip(picture<std::uint8_t>(3), "named", {.format = format::png}), values(3),
               3);
  BOOST_TEST((round_trip(array::from(std::vector<std::uint8_t>{7}, {1, 1}), "a.png").item() == 7));
  // A view: transposed, every second row from the end.
  const array view = picture<std::uint8_t>(3).transpose({1, 0, 2})({tutti::slice{{}, {}, -2}});
  BOOST_TEST(round_trip(view, "a.png").to_vector<std::uint8_t>() == view.to_vector<std::uint8_t>(),
             same);
}

BOOST_AUTO_TEST_CASE(memory_of_the_host_gives_the_same_bytes) {
  const std::vector<array> all{picture<std::uint8_t>(1), picture<std::uint8_t>(3),
                               picture<std::uint8_t>(4), picture<std::uint16_t>(2)};
  for (const array& a : all)
    BOOST_TEST(image::encode_image(tutti::host_array::of(a), format::png) ==
               image::encode_image(a, format::png));
  const tutti::host_array flat(dtype::u8, {height, width}), none(dtype::u8, {0, 2}),
      real(dtype::f32, {2, 2});
  BOOST_TEST(image::encode_image(flat, format::pnm).substr(0, 13) == "P5\n13 11\n255\n");
  FAILS(shape_error, image::encode_image(none, format::png), "[0,2]");
  FAILS(dtype_error, image::encode_image(real, format::png), "f32");
}

BOOST_AUTO_TEST_CASE(jpeg_is_near_what_was_written) {
  const array a = array::from(smooth(), {24, 40, 3});
  const std::string fine = image::encode_image(a, format::jpeg, {.quality = 98});
  const std::string coarse = image::encode_image(a, format::jpeg, {.quality = 5});
  BOOST_TEST(coarse.size() < fine.size());
  const auto error = [&](const std::string& bytes) {
    return largest_difference(image::decode_image(bytes).to_vector<std::uint8_t>(), smooth());
  };
  BOOST_TEST(error(fine) <= 8);  // of slopes up to 8 at half the resolution of colour
  BOOST_TEST(error(coarse) > 8);
  const array grey = a({{}, {}, tutti::slice{1, 2}});
  BOOST_TEST(largest_difference(
                 image::decode_image(image::encode_image(grey, format::jpeg, {.quality = 100}))
                     .to_vector<std::uint8_t>(),
                 grey.to_vector<std::uint8_t>()) <= 2);
}

BOOST_AUTO_TEST_CASE(pnm_by_its_specification) {
  const auto u8 = [](const std::string& bytes) {
    return image::decode_image(bytes).to_vector<std::uint8_t>();
  };
  using bytes = std::vector<std::uint8_t>;
  BOOST_TEST(u8("P2 3 1 255\n0 128 255\n") == (bytes{0, 128, 255}), same);
  BOOST_TEST(u8("P2# a\n3#b\n1\r\n15 # c\n 0 7\t15") == (bytes{0, 119, 255}), same);
  BOOST_TEST(u8("P3\n1 2\n255\n1 2 3\n4 5 6") == (bytes{1, 2, 3, 4, 5, 6}), same);
  BOOST_TEST(u8(std::string("P5 2 2 100 \0\x19\x32\x64", 15)) == (bytes{0, 64, 128, 255}), same);
  BOOST_TEST((image::decode_image("P3\n1 2\n255\n1 2 3\n4 5 6").shape() == shape{2, 1, 3}));
  const array wide = image::decode_image(std::string("P5 2 1 1023\n\3\xff\1\0", 16));
  BOOST_TEST(wide.to_vector<std::uint16_t>() == (std::vector<std::uint16_t>{65535, 16400}), same);
  BOOST_TEST(image::encode_image(picture<std::uint8_t>(3), format::pnm).substr(0, 13) ==
             "P6\n13 11\n255\n");
  const array two = array::from(std::vector<std::uint16_t>{258}, {1, 1, 1});
  BOOST_TEST(image::encode_image(two, format::pnm) == "P5\n1 1\n65535\n\1\2");

  for (const char* bad : {"P4 1 1\n1",      "P1 1 1\n1",     "P5 0 1 255\n",
                          "P5 1 0 255\n",   "P5 1 1 0\n0",   "P5 1 1 65536\n00",
                          "P5 -1 1 255\n0", "P5 1 1 255",    "P5 1 1 255\n",
                          "P5 1 1\n255x",   "P5 a 1 255\n0", "P5 ",
                          "P5 #",           "P2 1 1 255\n",  "P2 1 1 255\n256",
                          "P2 1 1 7\n8",    "P2 2 1 255\n1", "P2 1 1 255 1 2",
                          "P5 1 1 255\n01", "P5 1 1 9\nx",   "P5 2147483648 1 255\n0",
                          "P2 1 1 255 1x",  "P2 1 1 255 -1", "P5 99999999999999999999 1 255\n0",
                          "P6 1 1 255\nab"})
    BOOST_TEST(fails<tutti::io_error>(decoding(bad), "decode_image: bytes in memory: "), bad);
}

// Each byte of a PNG file counts for a checksum, and a file of each length but the whole is short.
BOOST_AUTO_TEST_CASE(damage_is_an_error) {
  for (const char* name : pngs) {
    const std::string sound = read_bytes(vectors / name);
    for (std::size_t at = 0; at < sound.size(); ++at) {
      std::string changed = sound;
      changed[at] = char(changed[at] ^ (1 << at % 8));
      BOOST_TEST(fails<tutti::io_error>(decoding(changed), "decode_image: "), name << ' ' << at);
      BOOST_TEST(fails<tutti::io_error>(decoding(sound.substr(0, at)), "decode_image: "),
                 name << " cut to " << at);
    }
  }
  for (const char* name : jpegs) {
    const std::string sound = read_bytes(vectors / name);
    for (std::size_t at = 0; at < sound.size(); ++at)
      BOOST_TEST(fails<tutti::io_error>(decoding(sound.substr(0, at)), "decode_image: "),
                 name << " cut to " << at);
  }
}

BOOST_AUTO_TEST_CASE(messages_name_file_and_reason) {
  const temporary_folder folder;
  const auto reading = [](const std::filesystem::path& path) {
    return [path] { image::read_image(path); };
  };
  using tutti::io_error;
  BOOST_TEST(fails<io_error>(reading(folder / "none.png"),
                             "read_image: " + (folder / "none.png").string()));
  BOOST_TEST(fails<io_error>(reading(folder.path()), "is a folder"));
  BOOST_TEST(fails<io_error>(reading(folder.write("a.png", "")), "is no picture"));
  BOOST_TEST(fails<io_error>(reading(folder.write("a.gif", "GIF89a")), "is no picture"));
  BOOST_TEST(fails<io_error>(reading(vectors / "huge.png"), "cannot hold 2147483647 x 2147483647"));
  BOOST_TEST(fails<io_error>(reading(vectors / "cmyk.jpg"), "CMYK"));
  BOOST_TEST(fails<io_error>(decoding("P5 2147483647 2147483647 65535\n"), "cannot hold"));
  BOOST_TEST(fails<io_error>(decoding("P3 2147483647 2147483647 255\n"), "cannot hold"));

  // Another frame header of JPEG: extents, coding, bits of a sample.
  std::string jpeg = read_bytes(vectors / "full.jpg");
  const std::size_t frame = jpeg.find("\xff\xc0");
  BOOST_TEST_REQUIRE(frame != std::string::npos);
  std::string changed = jpeg;
  changed.replace(frame + 5, 4, std::string("\xff\xdc\xff\xdc"));
  BOOST_TEST(fails<io_error>(decoding(changed), "cannot hold 65500 x 65500"));
  changed = jpeg;
  changed[frame + 1] = '\xc9';
  BOOST_TEST(fails<io_error>(decoding(changed), "arithmetic coding"));
  changed = jpeg;
  changed[frame + 4] = 12;
  BOOST_TEST(fails<io_error>(decoding(changed), "precision 12"));
  // A scan that comes again. In pictures of one frame and many scans that is no damage.
  std::string scans = read_bytes(vectors / "progressive.jpg");
  const std::size_t scan = scans.rfind("\xff\xda");
  scans.insert(scan, scans.substr(scan, scans.size() - 2 - scan));
  BOOST_TEST(fails<io_error>(decoding(scans), "Inconsistent progression"));
  BOOST_TEST(fails<io_error>(decoding(of_many_scans(600)), "more than 500 scans"));
  BOOST_TEST((image::decode_image(of_many_scans(400)).shape() == shape{24, 40, 3}));
  // What cameras append.
  BOOST_TEST(image::decode_image(jpeg + "more").shape().size() == 24 * 40 * 3);
}

BOOST_AUTO_TEST_CASE(what_a_format_does_not_hold) {
  const temporary_folder folder;
  const auto writing = [&](const array& a, const char* name, image::write_options options = {}) {
    return [=, path = folder / name] { image::write_image(path, a, options); };
  };
  const array sound = picture<std::uint8_t>(3);
  using namespace tutti;
  BOOST_TEST(fails<value_error>(writing(sound, "a.gif"), "write_image: \""));
  BOOST_TEST(fails<value_error>(writing(sound, "png"), "ends in none of"));
  BOOST_TEST(fails<value_error>(writing(sound, "a.jpg", {.quality = 0}), "quality 0"));
  BOOST_TEST(fails<value_error>(writing(sound, "a.png", {.compression = 10}), "compression 10"));
  BOOST_TEST(fails<value_error>(writing(sound, "a.png", {.format = static_cast<format>(9)}),
                                "unknown format 9"));
  BOOST_TEST(
      fails<dtype_error>(writing(zeros({2, 2, 3}), "a.png"), "PNG holds u8 and u16, not f32"));
  BOOST_TEST(
      fails<dtype_error>(writing(picture<std::uint16_t>(3), "a.jpg"), "JPEG holds u8, not u16"));
  for (const dtype type : {dtype::boolean, dtype::i8, dtype::u32, dtype::f16, dtype::c64})
    BOOST_TEST(fails<dtype_error>(writing(zeros({2, 2}, type), "a.ppm"), "write_image: "));
  for (const shape& bad : {shape{4}, shape{}, shape{1, 2, 2, 3}, shape{0, 2, 3}, shape{2, 0},
                           shape{2, 2, 0}, shape{2, 2, 5}})
    for (const char* name : {"a.png", "a.jpg", "a.ppm"})
      BOOST_TEST(fails<shape_error>(writing(zeros(bad, dtype::u8), name), bad.str()));
  for (const char* name : {"a.jpg", "a.pgm"})
    for (int channels : {2, 4})
      BOOST_TEST(fails<shape_error>(writing(picture<std::uint8_t>(channels), name), "channels"));
  const std::int64_t wide = std::int64_t{1} << 61;
  BOOST_TEST(
      fails<shape_error>(writing(zeros({wide, 1, 3}, dtype::u8), "a.png"), "pixels each way"));
  BOOST_TEST(fails<shape_error>(writing(zeros({65501, 1}, dtype::u8), "a.jpg"), "65500"));
  BOOST_TEST(fails<io_error>(writing(sound, "none/a.png"), "cannot write"));
  BOOST_TEST(fails<error>(writing(array(), "a.png"), "write_image: the array is empty"));
  BOOST_TEST(folder.file_count() == 0u);
}
