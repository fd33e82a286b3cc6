// A promise file that somebody wrote or a crash left: it is taken, and then comes back as it was
// stored, or it is refused.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "conclave/election/promise_file.hpp"

#include "tests/fuzz/reading.hpp"

namespace {

// A folder of this process alone, removed at its end.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "promise_fuzz.XXXXXX").string();
    CONCLAVE_CHECK(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string file() const { return (path_ / "promise").string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace conclave;
  static const Folder folder;
  std::ofstream(folder.file(), std::ios::binary) << fuzz::text_of(data, size);
  fuzz::reads([&] {
    const election::Identity owner{"test", 1};
    election::Promise promise;
    {
      election::PromiseFile file(folder.file(), owner);
      CONCLAVE_CHECK(file.has_existed());
      promise = file.promise();
      file.store(promise);
    }
    const election::PromiseFile again(folder.file(), owner);
    CONCLAVE_CHECK(again.promise() == promise);
  });
  return 0;
}
