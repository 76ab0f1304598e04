// cubind.hpp: cubind.h and inspect.h for C++17.  Header only: handles that free themselves, ranges,
// and failures as exceptions.  Nothing here does more than the C functions, whose rules hold.
//
//     cubind::link_options options("sm_90");
//     cubind::link link(options);
//     link.add_file("a.cubin");
//     link.add_memory("b", bytes);
//     std::vector<std::byte> image = link.run().to_vector();
//
//     cubind::container file("libx.so");
//     for (cubind::image image : file)
//         for (const cb_function &f : image.functions())
//             if (f.kernel)
//                 std::puts(f.name);
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef CUBIND_CUBIND_HPP
#define CUBIND_CUBIND_HPP

#include <cubind/cubind.h>
#include <cubind/inspect.h>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace cubind
{

// Borrowed bytes.
struct bytes_view {
    const void *data = nullptr;
    std::size_t size = 0;

    std::vector<std::byte> to_vector() const
    {
        const auto *first = static_cast<const std::byte *>(data);
        return {first, first + size};
    }
};

// A diagnostic that outlives the call.
struct diagnostic {
    cb_severity severity;
    std::string id, message, help, file, section, symbol; // "" where it does not apply
    std::optional<std::uint64_t> offset;
};

// A call failed: status says how, diagnostics why.
class error : public std::runtime_error
{
  public:
    error(cb_status status, std::vector<diagnostic> diagnostics)
        : std::runtime_error(text(status, diagnostics)), status_(status),
          diagnostics_(std::make_shared<std::vector<diagnostic>>(std::move(diagnostics)))
    {
    }
    cb_status status() const noexcept
    {
        return status_;
    }
    const std::vector<diagnostic> &diagnostics() const noexcept
    {
        return *diagnostics_;
    }

  private:
    static std::string text(cb_status status, const std::vector<diagnostic> &diagnostics)
    {
        for (const diagnostic &d : diagnostics)
            if (d.severity >= CB_SEV_ERROR)
                return d.message;
        return cb_status_string(status);
    }
    cb_status status_;
    std::shared_ptr<std::vector<diagnostic>> diagnostics_; // copies of exceptions must not throw
};

namespace detail
{

// Keeps diagnostics.  An exception must not pass through C: without memory they are dropped.
inline void keep(void *user, const cb_diagnostic *d) noexcept
{
    try {
        const auto text = [](const char *s) { return std::string(s ? s : ""); };
        diagnostic copy{d->severity,   text(d->id),      text(d->message), text(d->help),
                        text(d->file), text(d->section), text(d->symbol),  std::nullopt};
        if (d->offset != UINT64_MAX)
            copy.offset = d->offset;
        static_cast<std::vector<diagnostic> *>(user)->push_back(std::move(copy));
    } catch (...) {
    }
}

inline void check(cb_status status, const std::vector<diagnostic> &diagnostics)
{
    if (status != CB_OK)
        throw error(status, diagnostics);
}

// Keeps what a C function writes.
inline int append(void *user, const void *data, std::size_t size) noexcept
{
    try {
        const auto *first = static_cast<const std::byte *>(data);
        auto *all = static_cast<std::vector<std::byte> *>(user);
        all->insert(all->end(), first, first + size);
        return 0;
    } catch (...) {
        return 1;
    }
}

struct link_free {
    void operator()(cb_link *p) const noexcept
    {
        cb_link_free(p);
    }
};
struct container_free {
    void operator()(cb_container *p) const noexcept
    {
        cb_container_close(p);
    }
};
struct image_free {
    void operator()(cb_image *p) const noexcept
    {
        cb_image_close(p);
    }
};
struct diff_free {
    void operator()(cb_diff *p) const noexcept
    {
        cb_diff_free(p);
    }
};

// What two C functions list: for (const Record &r : list).
template <typename Record, typename Handle, std::size_t (*Count)(Handle *),
          const Record *(*Get)(Handle *, std::size_t)>
class list
{
  public:
    explicit list(Handle *handle) : handle_(handle)
    {
    }
    class iterator
    {
      public:
        using difference_type = std::ptrdiff_t;
        using value_type = Record;
        using pointer = const Record *;
        using reference = const Record &;
        using iterator_category = std::input_iterator_tag;
        iterator(Handle *handle, std::size_t at) : handle_(handle), at_(at)
        {
        }
        reference operator*() const
        {
            return *Get(handle_, at_);
        }
        pointer operator->() const
        {
            return Get(handle_, at_);
        }
        iterator &operator++()
        {
            ++at_;
            return *this;
        }
        bool operator==(const iterator &other) const
        {
            return at_ == other.at_;
        }
        bool operator!=(const iterator &other) const
        {
            return at_ != other.at_;
        }

      private:
        Handle *handle_;
        std::size_t at_;
    };
    std::size_t size() const
    {
        return Count(handle_);
    }
    bool empty() const
    {
        return size() == 0;
    }
    const Record &operator[](std::size_t i) const
    {
        return *Get(handle_, i);
    } // i < size()
    iterator begin() const
    {
        return {handle_, 0};
    }
    iterator end() const
    {
        return {handle_, size()};
    }

  private:
    Handle *handle_;
};

} // namespace detail

// Options of a link.  Members of the C structure can be set; what they point to must live until the
// link is made.
struct link_options : cb_link_options {
    explicit link_options(const char *target, std::uint64_t link_flags = 0)
    {
        cb_link_options_init(this, sizeof(cb_link_options));
        arch = target;
        flags = link_flags;
    }
};

// One device link.
class link
{
  public:
    // Diagnostics are kept, and go to the callback of the options, too.
    explicit link(const cb_link_options &options) : log_(std::make_unique<log>())
    {
        cb_link_options own = options;
        log_->next = options.on_diagnostic;
        log_->user = options.on_diagnostic_user;
        own.on_diagnostic = take;
        own.on_diagnostic_user = log_.get();
        cb_link *handle = nullptr;
        check(cb_link_create(&own, &handle));
        handle_.reset(handle);
    }
    link &add_file(const std::string &path)
    {
        check(cb_link_add_file(get(), path.c_str()));
        return *this;
    }
    // The bytes are borrowed until the link is gone.
    link &add_memory(const std::string &name, const void *data, std::size_t size)
    {
        check(cb_link_add_memory(get(), name.c_str(), data, size));
        return *this;
    }
    template <typename Bytes> link &add_memory(const std::string &name, const Bytes &bytes)
    {
        return add_memory(name, bytes.data(), bytes.size() * sizeof(*bytes.data()));
    }
    link &add_library(const std::string &name)
    {
        check(cb_link_add_library(get(), name.c_str()));
        return *this;
    }
    // The image belongs to the link.
    bytes_view run()
    {
        check(cb_link_run(get()));
        return image();
    }
    bytes_view image() const
    {
        bytes_view view;
        check(cb_link_get_image(get(), &view.data, &view.size));
        return view;
    }
    void write_file(const std::string &path) const
    {
        check(cb_link_write_file(get(), path.c_str()));
    }
    const std::vector<diagnostic> &diagnostics() const noexcept
    {
        return log_->kept;
    }
    cb_link *get() const noexcept
    {
        return handle_.get();
    }

  private:
    struct log {
        std::vector<diagnostic> kept;
        cb_diagnostic_fn next = nullptr;
        void *user = nullptr;
    };
    static void take(void *user, const cb_diagnostic *d)
    {
        auto *l = static_cast<log *>(user);
        detail::keep(&l->kept, d);
        if (l->next)
            l->next(l->user, d);
    }
    void check(cb_status status) const
    {
        detail::check(status, log_->kept);
    }

    std::unique_ptr<log> log_; // stays in its place when the link moves
    std::unique_ptr<cb_link, detail::link_free> handle_;
};

// Makes a cubin of sm_100 or later fit another chip of its family.
inline std::vector<std::byte> finalize(const void *data, std::size_t size, const char *arch,
                                       const char *name = "input")
{
    std::vector<diagnostic> kept;
    std::vector<std::byte> out;
    cb_finalize_options options{};
    options.struct_size = sizeof options;
    options.arch = arch;
    options.on_diagnostic = detail::keep;
    options.on_diagnostic_user = &kept;
    detail::check(cb_finalize(&options, name, data, size, detail::append, &out, nullptr), kept);
    return out;
}

// One open image.
class image
{
  public:
    using functions_list =
        detail::list<cb_function, cb_image, cb_image_function_count, cb_image_function>;
    using sections_list =
        detail::list<cb_section, cb_image, cb_image_section_count, cb_image_section>;
    using relocations_list =
        detail::list<cb_relocation, cb_image, cb_image_relocation_count, cb_image_relocation>;
    using attributes_list =
        detail::list<cb_attribute, cb_image, cb_image_attribute_count, cb_image_attribute>;
    using calls_list = detail::list<cb_call, cb_image, cb_image_call_count, cb_image_call>;
    using notes_list = detail::list<cb_note, cb_image, cb_image_note_count, cb_image_note>;
    using findings_list =
        detail::list<cb_finding, cb_image, cb_image_finding_count, cb_image_finding>;

    // Takes the handle over; what its diagnostics are written to lives as long.
    explicit image(cb_image *handle, std::shared_ptr<std::vector<diagnostic>> kept = nullptr)
        : kept_(std::move(kept)), handle_(handle)
    {
    }
    // The bytes are borrowed.
    image(const std::string &name, const void *data, std::size_t size)
    {
        cb_image *handle = nullptr;
        detail::check(cb_image_open_memory(nullptr, name.c_str(), data, size, &handle), {});
        handle_.reset(handle);
    }
    const cb_image_info &info() const
    {
        return *cb_image_get_info(get());
    }
    cb_image_state state() const
    {
        return cb_image_get_state(get());
    }
    const char *name() const
    {
        return cb_image_name(get());
    }
    bytes_view bytes() const
    {
        bytes_view view;
        cb_image_bytes(get(), &view.data, &view.size);
        return view;
    }
    const cb_header *header() const
    {
        return cb_image_header(get());
    } // nullptr: no device ELF
    functions_list functions() const
    {
        return functions_list(checked());
    }
    sections_list sections() const
    {
        return sections_list(checked());
    }
    relocations_list relocations() const
    {
        return relocations_list(checked());
    }
    attributes_list attributes() const
    {
        return attributes_list(checked());
    }
    calls_list calls() const
    {
        return calls_list(checked());
    }
    notes_list notes() const
    {
        return notes_list(checked());
    }
    findings_list findings() const
    {
        return findings_list(checked());
    }
    const char *demangle(const char *symbol) const
    {
        return cb_image_demangle(get(), symbol);
    }
    cb_image *get() const noexcept
    {
        return handle_.get();
    }

  private:
    cb_image *checked() const
    {
        detail::check(cb_image_status(get()), {});
        return get();
    }
    std::shared_ptr<std::vector<diagnostic>> kept_;
    std::unique_ptr<cb_image, detail::image_free> handle_;
};

// A file with device code in it.
class container
{
  public:
    explicit container(const std::string &path) : kept_(std::make_shared<std::vector<diagnostic>>())
    {
        const cb_inspect_options options = make_options();
        cb_container *handle = nullptr;
        detail::check(cb_container_open(&options, path.c_str(), &handle), *kept_);
        handle_.reset(handle);
    }
    // The bytes are borrowed until the container and its images are gone.
    container(const std::string &name, const void *data, std::size_t size)
        : kept_(std::make_shared<std::vector<diagnostic>>())
    {
        const cb_inspect_options options = make_options();
        cb_container *handle = nullptr;
        detail::check(cb_container_open_memory(&options, name.c_str(), data, size, &handle),
                      *kept_);
        handle_.reset(handle);
    }
    cb_content content() const
    {
        return cb_container_content(get());
    }
    std::size_t size() const
    {
        return cb_container_count(get());
    }
    const cb_image_info &info(std::size_t i) const
    {
        return *cb_container_info(get(), i);
    }
    image open(std::size_t i) const
    {
        cb_image *handle = nullptr;
        detail::check(cb_image_open(get(), i, &handle), *kept_);
        return image(handle, kept_);
    }
    // Opens one image after the other.
    class iterator
    {
      public:
        iterator(const container *of, std::size_t at) : of_(of), at_(at)
        {
        }
        image operator*() const
        {
            return of_->open(at_);
        }
        iterator &operator++()
        {
            ++at_;
            return *this;
        }
        bool operator!=(const iterator &other) const
        {
            return at_ != other.at_;
        }

      private:
        const container *of_;
        std::size_t at_;
    };
    iterator begin() const
    {
        return {this, 0};
    }
    iterator end() const
    {
        return {this, size()};
    }
    const std::vector<diagnostic> &diagnostics() const noexcept
    {
        return *kept_;
    }
    cb_container *get() const noexcept
    {
        return handle_.get();
    }

  private:
    cb_inspect_options make_options()
    {
        cb_inspect_options options{};
        options.struct_size = sizeof options;
        options.on_diagnostic = detail::keep;
        options.on_diagnostic_user = kept_.get();
        return options;
    }
    std::shared_ptr<std::vector<diagnostic>> kept_; // by the callback; images use it, too
    std::unique_ptr<cb_container, detail::container_free> handle_;
};

// What differs between two images.
class diff
{
  public:
    diff(const image &a, const image &b, std::uint64_t flags = 0)
    {
        cb_diff *handle = nullptr;
        detail::check(cb_diff_create(a.get(), b.get(), flags, &handle), {});
        handle_.reset(handle);
    }
    std::size_t size() const
    {
        return cb_diff_count(handle_.get());
    }
    const cb_difference &operator[](std::size_t i) const
    {
        return *cb_diff_get(handle_.get(), i);
    }

  private:
    std::unique_ptr<cb_diff, detail::diff_free> handle_;
};

} // namespace cubind

#endif
